/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables that the gas carries with its mass, along one axis for columns of 22 cells, whatever solver
 * moves the mass. In a cell the fraction is linear in the mass, with van Leer's limiter. What flows through a
 * face has the mean fraction of the mass that leaves the cell upwind (van Leer 1977, J. Comput. Phys. 23,
 * 276). Those parts of a cell that leave and that stay have fractions between those of the cells beside it,
 * and new fractions are means of such parts: there are no new extremes, as long as a sweep takes no more mass from a
 * cell than the cell has. */
#ifndef PHOTONS_HYDRO_KERNELS_CARRIED_H
#define PHOTONS_HYDRO_KERNELS_CARRIED_H

#include "column.h"

/** One variable of a cell of LANES columns. */
typedef real carried_cell[LANES] __attribute__((aligned(64)));

INLINE real carried_slope(real below, real here, real above) {
  const real a = here - below, b = above - here;
  return a * b > 0 ? 2 * a * b / (a + b) : 0;
}

/* The slopes of the fractions in cells 2 to 19. */
INLINE void carried_slopes(const column_cell *restrict u, const carried_cell *restrict carried,
                           carried_cell *restrict fraction, carried_cell *restrict slope) {
  for (int i = 0; i < GAS_BLOCK_SIDE; i++)
#pragma omp simd
    for (int l = 0; l < LANES; l++) fraction[i][l] = carried[i][l] / u[i][GAS_DENSITY][l];
  for (int i = 2; i < GAS_BLOCK_SIDE - 2; i++)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      slope[i][l] = carried_slope(fraction[i - 1][l], fraction[i][l], fraction[i + 1][l]);
}

/** Fluxes of a carried variable through the 17 faces of cells 3 to 18.
 * @param u         cells before the sweep @param flux  that of the solver
 * @param[out] own  flux of the carried variable */
static void carried_flux(real dt_dh, const column_cell *restrict u,
                         const column_cell *restrict flux, const carried_cell *restrict carried,
                         carried_cell *restrict own) {
  carried_cell fraction[GAS_BLOCK_SIDE], slope[GAS_BLOCK_SIDE];
  carried_slopes(u, carried, fraction, slope);
  for (int f = 0; f <= GAS_GROUP_SIDE; f++) {
    const int below = f + GAS_GHOSTS - 1, above = f + GAS_GHOSTS;
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const real mass = flux[f][GAS_DENSITY][l];
      const real from = mass >= 0 ? u[below][GAS_DENSITY][l] : u[above][GAS_DENSITY][l];
      const real half = (real)0.5 * largest(1 - dt_dh * fabs(mass) / from, 0);
      const real upper = fraction[below][l] + half * slope[below][l],
                 lower = fraction[above][l] - half * slope[above][l];
      own[f][l] = mass * (mass >= 0 ? upper : lower);
    }
  }
}

#endif
