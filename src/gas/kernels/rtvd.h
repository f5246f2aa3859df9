/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxing TVD scheme (Jin & Xin 1995; Trac & Pen 2003, PASP 115, 303) as Schive, Tsai & Chiueh
 * 2010 (ApJS 186, 457, equations 6 to 14) have it, along one axis for columns of 22 cells. */
#ifndef PHOTONS_GAS_KERNELS_RTVD_H
#define PHOTONS_GAS_KERNELS_RTVD_H

#include "column.h"

/* The fluxes to the right and to the left, equation 8: (c u + F)/2 and (c u - F)/2 with the freezing
 * speed c = |v| + c_s. */
INLINE void moving_fluxes(const struct constants *c, const real u[restrict][LANES],
                          real right[restrict][LANES], real left[restrict][LANES]) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct cell a = {u[0][l], {u[1][l], u[2][l], u[3][l]}, u[4][l], 0};
    const real p = c->thermal * thermal_energy(a), v = a.momentum[0] / a.density;
    const real speed = fabs(v) + sqrt(c->gamma * largest(p, 0) / a.density);
    const real flux[5] = {a.momentum[0], a.momentum[0] * v + p, a.momentum[1] * v,
                          a.momentum[2] * v, (a.energy + p) * v};
    for (int q = 0; q < 5; q++) {
      right[q][l] = (real)0.5 * (speed * u[q][l] + flux[q]);
      left[q][l] = (real)0.5 * (speed * u[q][l] - flux[q]);
    }
  }
}

/* The values after half a step with upwind fluxes, equation 13. */
INLINE void half_step(real half_dt_dh, const real u[restrict][LANES], column_cell *restrict right,
                      column_cell *restrict left, real middle[restrict][LANES]) {
  for (int q = 0; q < 5; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      middle[q][l] = u[q][l] - half_dt_dh * ((right[0][q][l] - left[1][q][l]) -
                                             (right[-1][q][l] - left[0][q][l]));
}

/* van Leer's limiter of two halved differences, equation 11, from the differences. */
INLINE real limited_half(real a, real b) { return a * b > 0 ? a * b / (a + b) : 0; }

/* The flux between cells 0 and 1 of second order, equation 12. */
INLINE void limited_flux(const column_cell *restrict right, const column_cell *restrict left,
                         real flux[restrict][LANES]) {
  for (int q = 0; q < 5; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const real to_right = right[0][q][l] + limited_half(right[0][q][l] - right[-1][q][l],
                                                          right[1][q][l] - right[0][q][l]);
      const real to_left = left[1][q][l] - limited_half(left[2][q][l] - left[1][q][l],
                                                        left[1][q][l] - left[0][q][l]);
      flux[q][l] = to_right - to_left;
    }
}

static void rtvd_column(const struct constants *c, real dt_dh, const column_cell *restrict u,
                        column_cell *restrict flux) {
  column_cell right[GAS_BLOCK_SIDE], left[GAS_BLOCK_SIDE], middle;
  column_cell middle_right[GAS_BLOCK_SIDE], middle_left[GAS_BLOCK_SIDE];
  for (int i = 0; i < GAS_BLOCK_SIDE; i++) moving_fluxes(c, u[i], right[i], left[i]);
  for (int i = 1; i < GAS_BLOCK_SIDE - 1; i++) {
    half_step((real)0.5 * dt_dh, u[i], right + i, left + i, middle);
    moving_fluxes(c, middle, middle_right[i], middle_left[i]);
  }
  for (int i = 0; i <= GAS_GROUP_SIDE; i++)
    limited_flux(middle_right + i + 2, middle_left + i + 2, flux[i]);
}

#endif
