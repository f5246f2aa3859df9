/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of cells along one axis, LANES columns side by side, so that all arithmetic of a solver is
 * on vectors of LANES values. */
#ifndef PHOTONS_GAS_KERNELS_COLUMN_H
#define PHOTONS_GAS_KERNELS_COLUMN_H

#include "real.h"

/** A cell of LANES columns: density, momentum along the columns, the two other momenta, energy,
 * entropy. */
typedef real column_cell[GAS_VARIABLES_MAX][LANES] __attribute__((aligned(64)));

/** A solver along one axis: mean fluxes through the 17 faces of cells 3 to 18, from 22 cells. */
typedef void column_solver(const struct constants *c, real dt_dh, const column_cell *restrict u,
                           column_cell *restrict flux);

/* cell after a time step, from the flux through its lower and upper face */
INLINE real after_step(real u, real dt_dh, real lower, real upper) {
  return u - dt_dh * (upper - lower);
}

#endif
