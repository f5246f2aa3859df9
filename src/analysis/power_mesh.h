/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The meshes of a measured power spectrum, distributed over all ranks: from folded particles to
 * modes. */
#ifndef PHOTONS_POWER_MESH_H
#define PHOTONS_POWER_MESH_H

#include <stdatomic.h>

#include "photons/fft/fft.h"
#include "power_gpu.h"
#include "power_points.h"

/**
 * Two meshes of n^3 cells, the second shifted by half a cell. A rank has some planes x, and some rows y of these, with
 * ghosts on both sides where other ranks have planes or rows.
 * Mass is deposited as integers: sums are exact, and therefore the same for any number of ranks and
 * any order of tasks. Rows are padded for deposits beyond their end. Planes are padded by one row,
 * so that strides of a power of two do not compete for the same cache sets.
 */
struct power_mesh {
  struct power_points points;
  struct fft fft; /**< of the cells of this rank, behind the ghosts before them */
  size_t n;
  size_t first[2], count[2]; /**< own planes x, own rows y */
  size_t ghosts[2];          /**< ghost planes, and ghost rows of each plane, on either side */
  size_t row, plane;         /**< strides in floats */
  size_t *places
      [3]; /**< power_places() of planes and rows with their ghosts and of cells along z, in bytes */
  float *cells[2]; /**< int32_t while mass is deposited; NULL before the first; one block of memory */
  bool empty;      /**< all cells are 0 as they were allocated */
  double unit;     /**< of the deposits, mean masses of particles */
  int32_t mean;    /**< of a cell, in units of the deposits */
  double
      mass; /**< deposited on a mesh, in units: the number of particles over the unit, except for the
                                  rounding of deposits */
  atomic_bool overflow; /**< a cell holds more than an integer can represent */
  uint32_t colour;
  bool on_gpu;           /**< the only rank has a GPU, which deposits */
  struct power_gpu *gpu; /**< its tasks, or NULL */
};

/** The cells of this rank, which fft transforms. */
static inline float *power_mesh_own(const struct power_mesh *m, size_t set) {
  return m->cells[set] + m->ghosts[0] * m->plane + m->ghosts[1] * m->row;
}
/** Where the planes, rows or cells that particles touch begin in memory, for each half of a cell in which a particle may be,
 * [2 n + 7]: of a particle in half h the i-th of four is entry h + 1 + 2 i, and on the shifted mesh entry h + 2 i. Those that are
 * there are multiples of the stride; free().
 * @param from, count  the first one in memory, and their number, 4 or more */
size_t *power_places(size_t n, size_t from, size_t count, size_t stride);

/** Collective. */
struct power_mesh power_mesh_create(const struct particles *s, size_t n);
void power_mesh_free(struct power_mesh *m);
/** Deposit the density of a fold, in units of the deposits and less its mean, and transform it along y and z: fft_pair_to_lines(). Collective.
 * @param width  modes of k_z >= width are lost */
void power_mesh_fill(struct power_mesh *m, unsigned fold, size_t width);
/** Where m->on_gpu: deposit and transform on the GPU, and sum up the modes there.
 * @param table       [3 n] exp(-i k h/2) of one axis, the shift of the second mesh, and 1/W^2 of one axis
 * @param[out] shell  [power_shells_of(n)] */
void power_mesh_sum(struct power_mesh *m, unsigned fold, float *table, struct power_shell *shell);
/** Bytes of this memory on one rank, particles included. */
double power_mesh_memory(size_t particles, size_t n);

#endif
