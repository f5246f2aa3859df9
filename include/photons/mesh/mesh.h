/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particle mesh: N^3 cells, and the numerics of its stages as plain functions without tasks or
 * MPI.
 *
 * density:   each group deposits into its own patch; patches are added to slabs in a fixed order
 * forward:   fft_yz of each plane, scattered to transpose blocks (slab s, column c);
 *            fft_x over all slabs of a column
 * k space:   Green's function, split factor, window deconvolution (deposit and read-out),
 *            gradient (spectral) or potential (fd4)
 * backward:  inverse fft_x, transpose blocks, inverse fft_yz into the slabs of each field,
 *            which particles read
 *
 * A slab is a set of consecutive x-planes, a column a set of consecutive ky. Transpose block (s,
 * c), `block` in identifiers, holds [x in s][ky in c][kz] complex numbers.
 *
 * Where there are more ranks than planes, slabs and columns are divided further, into pencils. Part j of
 * a slab has some y of its planes, and after the transform along z some kz of all y; part j of a column has
 * the same kz. The transform fft_yz is then two, fft_z and fft_y, with a transpose between the parts of a slab,
 * whose row block (i, j), `row_block` in identifiers, holds [x in s][y in part i][kz in part j]. All lines
 * are transformed by the same plans as in slabs, at the same places of a batch of lines, so that both
 * layouts give the same bits. A struct mesh knows one part, that of its rank. With interlacing there
 * are two sets of densities and fields; the second set belongs to a mesh shifted by half a cell
 * (Hockney & Eastwood 1981, section 7-8). photons/fft/fft.h says why these transforms are apart from
 * all others. */
#ifndef PHOTONS_MESH_H
#define PHOTONS_MESH_H

#ifdef __cplusplus
#define complex /* CUDA code sees complex numbers as floats: it only handles pointers to them */
#else
#include <complex.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/config/choices.h"
#include "photons/tree/split.h"

struct response;

/** Cells that a scheme touches along one side: 2 (CIC), 3 (TSC), 4 (PCS). */
static HOST_DEVICE inline uint32_t assignment_width(enum assignment a) {
  return a == ASSIGN_CIC ? 2 : a == ASSIGN_TSC ? 3 : 4;
}

/** A box of cells around one group: cells origin .. origin + size - 1 of each side, modulo N. */
struct patch {
  uint32_t origin[3];
  uint32_t size[3]; /**< at most N each; a patch as wide as the mesh wraps onto itself */
};

/** The field planes that the particles of a group read: whole planes of slabs, or those of a field
 * box. */
struct field_view {
  const float *const *plane; /**< [field * N + x]; set for the planes that are read */
  uint32_t origin[2];        /**< y and z of the first number of a plane */
  uint32_t row;              /**< floats from y to y + 1 */
  uint32_t first[3]; /**< first cell of the group's patch: all cells of the box from there to
                              *   the farthest one that a particle touches are in the planes */
  uint32_t size[3];  /**< cells from there on in the planes along each axis; N and more: all */
};
static inline struct field_view whole_planes(uint32_t row, const float *const *plane) {
  return (struct field_view){.plane = plane,
                             .origin = {0, 0},
                             .row = row,
                             .first = {0, 0, 0},
                             .size = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
}

/** The cells of each field that a group reads, where they are copied for the group: planes first ..
 * first + planes - 1 modulo N, of each plane [size[0]][row] floats from `origin` (y, z) on. A row has four floats more
 * than cells, so that kernels may load four cells from any of them on. Of rows all around the box these repeat the
 * first cells. Of other rows no particle is in reach of them. */
struct field_box {
  uint32_t first, planes, origin[2], size[2], row;
};

struct mesh_plans; /* FFTW plans, made once on the main thread with FFTW_ESTIMATE, used with
                      new-array execute */

struct mesh {
  uint32_t cells; /**< N, even */
  uint32_t row;   /**< floats from one z-row of a real slab to the next: >= N + 4, an odd multiple
                       of 16 */
  uint32_t kz;    /**< N/2 + 1 */
  uint32_t slabs, columns;
  uint32_t parts, part;   /**< parts of each slab and column, and the one of this rank; 1, 0: whole
                                      slabs */
  uint32_t first_y, ys;   /**< of this part of a slab: its y; 0 .. N - 1 of whole slabs */
  uint32_t first_kz, kzs; /**< of this part of a column: its kz; 0 .. N/2 of whole columns */
  double box;             /**< Mpc/h */
  enum assignment assignment;
  enum gradient gradient;
  bool interlace;
  uint32_t fields;  /**< 3 (spectral: acceleration components) or 1 (fd4: potential) */
  uint32_t spectra; /**< spectra from which the fields are made after the transform along x: 2 (x
                         component; y and z times their wave numbers) or 1 */
  const struct split *split; /**< NULL: there are no pairs */
  double
      cut; /**< without pairs: where S = 1/2, over the Nyquist frequency; 0: as mesh_create() has it */
  /** 4 pi (S(k) + R(k))/(k^2 L^3) at n^2 = first_square .. first_square + squares - 1, k = 2 pi n/L, see
   * mesh_make_green(); 0 at 0, halved with interlacing. */
  float *green;
  size_t first_square, squares; /**< of the modes of this rank's columns, mesh_take_columns() */
  float *window;        /**< 1/W^2 of one axis at n = 0 .. N-1: windows of deposit and read-out */
  float *wave;          /**< k_i = 2 pi n/L at n = 0 .. N-1, negative above N/2 and zero at N/2 (the
                             gradient's Nyquist mode) */
  float complex *phase; /**< interlacing: e^{i pi (n - N)/N} at n = 0 .. 5N/2, the shift by half a
                             cell along each axis */
  struct mesh_plans *plans;
};

enum { MESH_MOST = 16384 }; /**< cells a side */
enum {
  MESH_LINES = 64
}; /**< lines along y or x that are transformed together, a batch: neighbours in kz, the
                                 first one a multiple of this number */

/** Floats of a z-row. An odd number of cache lines: neighbouring rows of a column do not compete
 * for the same cache sets. */
static inline uint32_t mesh_row(uint32_t cells) { return 16 * (((cells + 4 + 15) / 16) | 1); }
/** First x-plane of slab s / first ky of column c: s N / slabs. */
static HOST_DEVICE inline uint32_t slab_first(const struct mesh *m, uint32_t s) {
  return (uint32_t)((uint64_t)m->cells * s / m->slabs);
}
static HOST_DEVICE inline uint32_t column_first(const struct mesh *m, uint32_t c) {
  return (uint32_t)((uint64_t)m->cells * c / m->columns);
}
/** Slabs, columns or ky first .. end - 1. */
struct mesh_range {
  uint32_t first, end;
};
/** The ky of a column. */
static inline struct mesh_range column_kys(const struct mesh *m, uint32_t c) {
  struct mesh_range kys = {column_first(m, c), column_first(m, c + 1)};
  return kys;
}
/** First y of part j of a slab, and first kz of part j of a column. */
static HOST_DEVICE inline uint32_t part_first_y(const struct mesh *m, uint32_t j) {
  return (uint32_t)((uint64_t)m->cells * j / m->parts);
}
static HOST_DEVICE inline uint32_t part_first_kz(const struct mesh *m, uint32_t j) {
  return (uint32_t)((uint64_t)m->kz * j / m->parts);
}
/** The part of a slab that has row y. */
static inline uint32_t part_of_row(const struct mesh *m, uint32_t y) {
  return (uint32_t)(((uint64_t)(y + 1) * m->parts + m->cells - 1) / m->cells - 1);
}
/** Position of a particle in cells: with u the integer position along one axis, c = u N +
 * assignment_offset(). Then (c >> 32) modulo N is the first cell that the particle touches, counted
 * from cell @p origin, and the low 32 bits of c are the particle's distance from that cell. The
 * offset contains half a cell for the nearest cell of TSC and for the shifted mesh, and minus one
 * cell for TSC and PCS. c stays below 2N cells. */
static HOST_DEVICE inline uint64_t assignment_offset(const struct mesh *m, uint32_t origin,
                                                     bool shifted) {
  uint32_t before = m->assignment == ASSIGN_CIC ? 0 : 1;
  uint64_t halves = (uint64_t)(m->assignment == ASSIGN_TSC) + shifted;
  return ((uint64_t)((2 * m->cells - before - origin) % m->cells) << 32) + (halves << 31);
}
/** How many modes of the whole mesh a mode with this kz stands for, over the sets whose densities
 * are added up. */
static HOST_DEVICE inline double mode_weight(const struct mesh *m, uint32_t kz) {
  return (kz == 0 || kz == m->cells / 2 ? 1.0 : 2.0) / (m->interlace ? 2.0 : 1.0);
}
/** Floats from one plane of a slab to the next: nine cache lines more than the rows need, so that
 * the planes that a particle touches do not compete for the same cache sets when N is a power of
 * two. */
static HOST_DEVICE inline size_t plane_floats(const struct mesh *m) {
  return (size_t)m->ys * m->row + 144;
}
/** The spectrum from which a field is made. */
static HOST_DEVICE inline uint32_t spectrum_of_field(uint32_t field) { return field > 0; }
/** Complex numbers in transpose block (s, c), of this part. */
static HOST_DEVICE inline size_t block_size(const struct mesh *m, uint32_t s, uint32_t c) {
  return (size_t)(slab_first(m, s + 1) - slab_first(m, s)) *
         (column_first(m, c + 1) - column_first(m, c)) * m->kzs;
}
/** Complex numbers in row block (i, j) of slab s. */
static HOST_DEVICE inline size_t row_block_size(const struct mesh *m, uint32_t s, uint32_t i,
                                                uint32_t j) {
  return (size_t)(slab_first(m, s + 1) - slab_first(m, s)) *
         (part_first_y(m, i + 1) - part_first_y(m, i)) *
         (part_first_kz(m, j + 1) - part_first_kz(m, j));
}

/** The slab that plane x is in. */
static inline uint32_t slab_of_plane(const struct mesh *m, uint32_t x) {
  return (uint32_t)(((uint64_t)(x + 1) * m->slabs + m->cells - 1) / m->cells - 1);
}

/** How many slabs hold planes first .. first + planes - 1 modulo N, counted from the slab of the
 * first plane; all slabs where the planes wrap around into the first slab again. */
static inline uint32_t slabs_of_planes(const struct mesh *m, uint32_t first, uint32_t planes) {
  const uint32_t last = slab_of_plane(m, (first + planes - 1) % m->cells);
  const uint32_t round = first + planes > m->cells ? m->slabs : 0;
  const uint32_t n = last + 1 - slab_of_plane(m, first) + round;
  return n < m->slabs ? n : m->slabs;
}

/**
 * Make the tables and FFTW plans of a mesh. Main thread only.
 * @param cells    N, even, 8 .. 16384
 * @param slabs    1 .. cells
 * @param columns  1 .. cells
 * @param box      side of the box, Mpc/h
 * @param split    its mesh factor S(k) is applied; must outlive the mesh. NULL: S = 1
 */
struct mesh *mesh_create(uint32_t cells, uint32_t slabs, uint32_t columns, double box,
                         enum assignment assignment, enum gradient gradient, bool interlace,
                         const struct split *split);
/** Divide slabs and columns into parts, of which this rank has one. Before anything else is done with the mesh.
 * @param parts  1 .. N/2 + 1; several: pencils */
void mesh_divide(struct mesh *m, uint32_t parts, uint32_t part);
void mesh_free(struct mesh *m);

/** Make the table of Green's function for columns first .. end - 1, of this rank's part, which are those that it
 * transforms. After mesh_divide(), and before mesh_fft_x(). */
void mesh_take_columns(struct mesh *m, uint32_t first, uint32_t end);
/** Where the square of a mode number is in the table, modulo 2^64: squares may be added one by one. */
static HOST_DEVICE inline size_t green_place(const struct mesh *m, size_t square) {
  return square - m->first_square;
}
/** Compute Green's function of these columns anew, with the response R(k) of species that are not made of particles. The
 * split factor is not applied to it, since there are no pairs of them. Tasks compute it on all workers; the bits
 * do not depend on their number. @param response  NULL: R = 0 */
void mesh_make_green(struct mesh *m, const struct response *response);

/** The smallest even size >= n with only factors 2, 3, 5, 7 (FFT-friendly). */
uint32_t mesh_good_size(uint32_t n);

/** The patch that holds all cells to which particles within [centre - half, centre + half] deposit
 * (position units, half <= 2^31), on the shifted mesh of interlacing too. It is four cells deep in
 * z for every scheme. */
struct patch patch_for_box(const struct mesh *m, const uint32_t centre[3], const double half[3]);

/** The field cells read by the particles that deposit to a patch. */
struct field_box field_box_for_patch(const struct mesh *m, const struct patch *patch);
/** Floats of one plane of a field box. */
static inline size_t field_box_floats(const struct field_box *b) {
  return (size_t)b->size[0] * b->row;
}
/** Bytes of scratch memory that one of the functions below needs on one worker. */
size_t mesh_scratch_bytes(const struct mesh *m);

/** 2-D r2c transform of every plane of slab s, scattered to the slab's transpose blocks. The slab
 * holds particles per cell, [plane][y][row] floats, aligned to 16 bytes, and is not changed. */
void mesh_fft_yz(const struct mesh *m, uint32_t s, float *slab,
                 float complex *const *blocks /* [columns] */, void *scratch);

/**
 * Column c: gather, FFT along x, Green's function, inverse FFT along x, scatter. The unnormalised
 * inverse transform of the result gives the acceleration components (spectral) in (Mpc/h)^-2 or the
 * potential (fd4) in (Mpc/h)^-1, per unit G m, at the cells of each set's mesh: acceleration = G *
 * particle mass * mean over the sets. With interlacing, combining the two densities cancels the odd
 * images of the deposit, and the mean over both read-outs cancels those of the read-out.
 * @param kys  those ky of the column that are transformed: column_kys(), or a part of them
 * @param in   [sets][slabs] transpose blocks of the density; set 1 is the mesh shifted by half a
 *         cell
 * @param out  [sets][spectra][slabs] transpose blocks; may be the same memory as in
 * @param[out] energy  [ky of the column][kz of the part] sum of -phi_k n_k^* over all modes k and -k of this ky
 *         and kz, per unit of G m, (Mpc/h)^-1; over all ky and kz it is the sum of all particles'
 *         potentials on the mesh, each that of its own smoothed cloud included
 */
void mesh_fft_x(const struct mesh *m, uint32_t c, struct mesh_range kys,
                const float complex *const *in, float complex *const *out, double *energy,
                void *scratch);
/**
 * mesh_fft_x() in two parts, with the same rounding: its forward transforms and Green's function,
 * whose result stays in wave numbers; and the inverse transforms of one set.
 * @param in         [sets][slabs]
 * @param potential  [slabs] transpose blocks; may be the same memory as some of `in`
 * @param[out] energy  as of mesh_fft_x()
 * @param out        [spectra][slabs] of this set
 */
void mesh_potential_x(const struct mesh *m, uint32_t c, const float complex *const *in,
                      float complex *const *potential, double *energy, void *scratch);
void mesh_fields_x(const struct mesh *m, uint32_t c, uint32_t set,
                   const float complex *const *potential, float complex *const *out, void *scratch);

/** 2-D c2r transform of every plane of slab s, from the transpose blocks of one field's spectrum
 * into [plane][y][row] floats. Cells N .. N + 3 of a row repeat cells 0 .. 3. */
void mesh_ifft_yz(const struct mesh *m, uint32_t s, uint32_t field,
                  const float complex *const *blocks, float *slab, void *scratch);

/** mesh_fft_yz() of pencils in two parts, with the same rounding: each row of this part of slab s along z, to row
 * blocks; and all y of this part's kz along y, from the row blocks of all parts to transpose blocks.
 * @param blocks   [parts] row blocks (own part, j)
 * @param rows     [parts] row blocks (i, own part)
 * @param columns  [columns] transpose blocks */
void mesh_fft_z(const struct mesh *m, uint32_t s, float *slab, float complex *const *blocks,
                void *scratch);
void mesh_fft_y(const struct mesh *m, uint32_t s, const float complex *const *rows,
                float complex *const *columns, void *scratch);
/** mesh_ifft_yz() in the same two parts. */
void mesh_ifft_y(const struct mesh *m, uint32_t s, uint32_t field,
                 const float complex *const *columns, float complex *const *rows, void *scratch);
void mesh_ifft_z(const struct mesh *m, uint32_t s, const float complex *const *blocks, float *slab,
                 void *scratch);

/** Kernels that each instruction set has. x: component c of a group's positions is at x + c *
 * count. `shifted` means the mesh shifted by half a cell. */
struct mesh_kernels {
  /** Clear a patch ([size0][size1][size2] floats) and deposit particles into it.
   * @param mass  [count] their masses; NULL: all are 1 */
  void (*deposit)(const struct mesh *m, uint32_t count, const uint32_t *x, const float *mass,
                  bool shifted, const struct patch *patch, float *data);
  /** Add what of a patch lies in this part of slab s to it ([plane][y][row]). The caller clears
   * the slab before the first patch. */
  void (*patch_add)(const struct mesh *m, uint32_t s, const struct patch *patch, const float *data,
                    float *slab);
  /** acceleration[c * count + i] += factor * field at the particles (spectral), or factor * the
   * interpolated four-point differences of the potential (fd4). The view must hold the cells that
   * the particles touch, and with fd4 two more on each side. */
  void (*read)(const struct mesh *m, uint32_t count, const uint32_t *x, bool shifted, float factor,
               const struct field_view *view, float *acceleration);
};

#ifdef __cplusplus
#undef complex
#endif

#endif
