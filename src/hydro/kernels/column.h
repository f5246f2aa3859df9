/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of cells along one axis, LANES columns side by side, so that all arithmetic of a solver
 * is on vectors of LANES values. */
#ifndef PHOTONS_HYDRO_KERNELS_COLUMN_H
#define PHOTONS_HYDRO_KERNELS_COLUMN_H

#include "real.h"

/** A cell of LANES columns: density, momentum along the columns, the two other momenta, energy,
 * entropy. */
typedef real column_cell[GAS_SOLVED_MAX][LANES] __attribute__((aligned(64)));

/** What a column's cells know of shocks along the other axes: not 0 where there is a strong one. */
typedef real_bits column_sides[LANES];

/** A solver along one axis: mean fluxes through the 17 faces of cells 3 to 18, from 22 cells. Where the
 * cells beside a face would not stay physical, its flux is of first order.
 * sides: of the 22 cells, or NULL; faces of cells beside strong shocks get more diffusive fluxes
 * @param[out] first_order  number of such faces among the first 16 of each column; set if there are any
 * @return whether there are any */
typedef bool column_solver(const struct constants *c, real dt_dh, const column_cell *restrict u,
                           const column_sides *sides, column_cell *restrict flux,
                           uint32_t first_order[restrict LANES]);

/* In the widest registers; memcpy() takes narrow ones. */
INLINE void copy_lanes(const real *restrict from, real *restrict to) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) to[l] = from[l];
}

enum { COLUMN_STEP = GAS_SOLVED_MAX * LANES }; /**< values from a cell to the next */

typedef real quad __attribute__((vector_size(4 * sizeof(real))));

/* to[j][i] = from[i][j] for 4 x 4 values, whose rows are `from_step` and `to_step` apart. */
INLINE void transpose4(const real *from, size_t from_step, real *to, size_t to_step) {
  quad a, b, c, d;
  memcpy(&a, from, sizeof a);
  memcpy(&b, from + from_step, sizeof b);
  memcpy(&c, from + 2 * from_step, sizeof c);
  memcpy(&d, from + 3 * from_step, sizeof d);
  const quad ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const quad row[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                       __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                       __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                       __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (unsigned j = 0; j < 4; j++) memcpy(to + j * to_step, &row[j], sizeof row[j]);
}

/* cell after a time step, from the flux through its lower and upper face */
INLINE real after_step(real u, real dt_dh, real lower, real upper) {
  return u - dt_dh * (upper - lower);
}

#endif
