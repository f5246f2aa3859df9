/* The particle mesh: N^3 cells in slabs of x-planes, and the numerics of its stages as plain functions.
 *
 * density:   each group deposits into its own patch; patches are added to slabs in a fixed order
 * forward:   fft_yz of each plane, scattered to blocks (slab s, column c); fft_x over all slabs of a column
 * k space:   Green's function, split factor, window deconvolution (deposit and readout), gradient (spectral) or potential (fd4)
 * backward:  inverse fft_x, blocks, inverse fft_yz into the slabs of each field, which particles read.
 * A slab is a set of consecutive x-planes, a column a set of consecutive ky; block (s, c) holds [x in s][ky in c][kz] complex. */
#ifndef PHOTONS_MESH_H
#define PHOTONS_MESH_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/parameters.h"
#include "photons/split.h"

/** Cells that a scheme touches along one side: 2 (CIC), 3 (TSC), 4 (PCS). */
static inline uint32_t assignment_width(enum assignment a) { return a == ASSIGN_CIC ? 2 : a == ASSIGN_TSC ? 3 : 4; }

/** A box of cells around one group: cells origin .. origin + size - 1 of each side, origin taken modulo N. */
struct patch {
  uint32_t origin[3];
  uint32_t size[3]; /**< at most N each (a patch as wide as the mesh wraps onto itself) */
};

struct mesh_plans; /* FFTW plans, made once on the main thread with FFTW_ESTIMATE, used with new-array execute */

struct mesh {
  uint32_t cells;  /**< N, even */
  uint32_t row;    /**< floats from one z-row of a real slab to the next: >= N + 4, even, padded against cache aliasing */
  uint32_t kz;     /**< N/2 + 1 */
  uint32_t slabs, columns;
  double box;      /**< Mpc/h */
  enum assignment assignment;
  enum gradient gradient;
  bool interlace;
  uint32_t fields; /**< 3 (spectral: acceleration components) or 1 (fd4: potential) */
  const struct split *split;
  double *factor;  /**< tables that the Green's function needs (per-axis window and wave number; S(k) interpolation ...) */
  struct mesh_plans *plans;
};

/** First x-plane of slab s / first ky of column c: s N / slabs. */
static inline uint32_t slab_first(const struct mesh *m, uint32_t s) { return (uint32_t)((uint64_t)m->cells * s / m->slabs); }
static inline uint32_t column_first(const struct mesh *m, uint32_t c) { return (uint32_t)((uint64_t)m->cells * c / m->columns); }
/** Floats in one plane and complex numbers in one block. */
static inline size_t plane_floats(const struct mesh *m) { return (size_t)m->cells * m->row; }
static inline size_t block_size(const struct mesh *m, uint32_t s, uint32_t c) {
  return (size_t)(slab_first(m, s + 1) - slab_first(m, s)) * (column_first(m, c + 1) - column_first(m, c)) * m->kz;
}

/**
 * @param slabs  number of slabs and of columns, 1 .. cells
 */
struct mesh *mesh_create(uint32_t cells, uint32_t slabs, double box, enum assignment assignment, enum gradient gradient,
                         bool interlace, const struct split *split);
void mesh_free(struct mesh *m);

/** The smallest even size >= n with only factors 2, 3, 5, 7 (FFT-friendly). */
uint32_t mesh_good_size(uint32_t n);

/** The patch that holds all cells which particles within [centre - half, centre + half] (box units, half <= 2^31) deposit to,
 * shifted mesh of interlacing included. */
struct patch patch_for_box(const struct mesh *m, const uint32_t centre[3], const double half[3]);

/** Bytes of scratch that mesh_fft_yz, mesh_fft_x and mesh_ifft_yz may use on one worker. */
size_t mesh_scratch_bytes(const struct mesh *m);

/** 2-D r2c of every plane of slab s (number density in, [plane][y][row] floats, preserved or not as suits), scattered to its blocks. */
void mesh_fft_yz(const struct mesh *m, uint32_t s, float *slab, float complex *const *blocks /* [columns] */, void *scratch);

/**
 * Column c: gather, FFT along x, Green's function, inverse FFT along x, scatter.
 * in: [slabs] blocks of the density, and with interlacing [slabs] more of the mesh shifted by half a cell;
 * out: [fields][slabs] blocks, may be the same memory as in. Fields come out such that the inverse transform (unnormalised) gives the
 * acceleration components (spectral) or the potential (fd4) per unit G m, in (Mpc/h)^-2 or (Mpc/h)^-1:
 * acceleration = G * particle mass * field.
 */
void mesh_fft_x(const struct mesh *m, uint32_t c, const float complex *const *in, float complex *const *out, void *scratch);

/** 2-D c2r of every plane of slab s from the blocks of one field into [plane][y][row] floats; cells N .. N+3 of a row repeat cells 0 .. 3. */
void mesh_ifft_yz(const struct mesh *m, uint32_t s, const float complex *const *blocks, float *slab, void *scratch);

/** Kernels that exist once an instruction set. x: component c of the group's positions at x + c * count. */
struct mesh_kernels {
  /** Clear the patch ([size0][size1][size2] floats) and deposit unit masses; shifted: on the mesh displaced by half a cell. */
  void (*deposit)(const struct mesh *m, uint32_t count, const uint32_t *x, bool shifted, const struct patch *patch, float *data);
  /** Add the part of a patch that lies in slab s to it ([plane][y][row]). */
  void (*patch_add)(const struct mesh *m, uint32_t s, const struct patch *patch, const float *data, float *slab);
  /** acceleration[c * count + i] += factor * field at the particles; planes[field * N + x]: pointer to plane x of a field
   * (only planes that the particles touch need be valid). fd4: four-point differences of the potential, interpolated. */
  void (*read)(const struct mesh *m, uint32_t count, const uint32_t *x, float factor, const float *const *planes, float *acceleration);
};

#endif
