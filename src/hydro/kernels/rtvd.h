/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxing TVD scheme (Jin & Xin 1995; Trac & Pen 2003, PASP 115, 303) as Schive, Tsai & Chiueh
 * 2010 (ApJS 186, 457, equations 6 to 14) have it, along one axis for columns of 22 cells. */
#ifndef PHOTONS_HYDRO_KERNELS_RTVD_H
#define PHOTONS_HYDRO_KERNELS_RTVD_H

#include "column.h"

/* The fluxes to the right and to the left, equation 8: (c u + F)/2 and (c u - F)/2 with the
 * freezing speed c = |v| + c_s. */
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

/** The moving fluxes of the latest four cells of a column; cell i is at i modulo 4. */
struct moving {
  column_cell right[4], left[4];
};

/* Cell i after half a step with upwind fluxes, equation 13. */
INLINE void half_step(real half_dt_dh, const column_cell *restrict u, int i,
                      const struct moving *restrict m, column_cell *restrict middle) {
  const int below = (i - 1) & 3, here = i & 3, above = (i + 1) & 3;
  for (int q = 0; q < 5; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      middle[0][q][l] = u[i][q][l] - half_dt_dh * ((m->right[here][q][l] - m->left[above][q][l]) -
                                                   (m->right[below][q][l] - m->left[here][q][l]));
}

/* van Leer's limiter of two halved differences, equation 11, from the differences. */
INLINE real limited_half(real a, real b) { return a * b > 0 ? a * b / (a + b) : 0; }

/* The flux of second order between cells i and i + 1, equation 12. */
INLINE void limited_flux(int i, const struct moving *restrict m, real flux[restrict][LANES]) {
  const int below = (i - 1) & 3, here = i & 3, above = (i + 1) & 3, beyond = (i + 2) & 3;
  for (int q = 0; q < 5; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const real from_below = m->right[here][q][l], from_above = m->left[above][q][l];
      const real to_right = from_below + limited_half(from_below - m->right[below][q][l],
                                                      m->right[above][q][l] - from_below);
      const real to_left = from_above - limited_half(m->left[beyond][q][l] - from_above,
                                                     from_above - m->left[here][q][l]);
      flux[q][l] = to_right - to_left;
    }
}

/* Whether density and thermal energy of a + sign * d are positive. */
INLINE bool is_possible(struct cell a, struct cell d, real sign) {
  const real density = a.density + sign * d.density, energy = a.energy + sign * d.energy,
             x = a.momentum[0] + sign * d.momentum[0], y = a.momentum[1] + sign * d.momentum[1],
             z = a.momentum[2] + sign * d.momentum[2];
  return (density > 0) & is_positive(density * energy - (real)0.5 * (x * x + y * y + z * z));
}

/* Cell i after a step of first order. middle: after half of it */
INLINE struct cell safe_cell(const column_cell *restrict u, int i,
                             const column_cell *restrict middle, int l) {
  const int k = i & 3;
  return (struct cell){2 * middle[k][0][l] - u[i][0][l],
                       {2 * middle[k][1][l] - u[i][1][l], 2 * middle[k][2][l] - u[i][2][l],
                        2 * middle[k][3][l] - u[i][3][l]},
                       2 * middle[k][4][l] - u[i][4][l],
                       0};
}

/* What a flux has beyond that of first order. */
INLINE real excess_flux(const struct moving *restrict m, int here, int above,
                        const real flux[restrict][LANES], int q, int l) {
  return flux[q][l] - (m->right[here][q][l] - m->left[above][q][l]);
}

/* Makes the flux between cells i and i + 1 one of first order where that of second order may take more
 * from a cell than it has. The step of first order, u1 = u - dt/dh (f1 above - f1 below), keeps density
 * and pressure positive. The step of second order is the mean of u1 - 2 dt/dh (f - f1) of the face above
 * and u1 + 2 dt/dh (f - f1) of the face below. States with positive density and pressure are a convex set:
 * the mean is in it where both are (Perthame & Shu 1996, Numer. Math. 73, 119; Hu, Adams & Shu 2013, J.
 * Comput. Phys. 242, 169). Both groups beside a face know what decides.
 * middle: cells after half the step of first order */
INLINE real_bits find_unsafe(real dt_dh, const column_cell *restrict u, int i,
                             const struct moving *restrict m, const column_cell middle[restrict 4],
                             const real flux[restrict][LANES], real_bits unsafe[restrict LANES]) {
  const int here = i & 3, above = (i + 1) & 3;
  real_bits any = 0;
#pragma omp simd reduction(| : any)
  for (int l = 0; l < LANES; l++) {
    const struct cell low = safe_cell(u, i, middle, l), high = safe_cell(u, i + 1, middle, l);
    const struct cell excess = {2 * dt_dh * excess_flux(m, here, above, flux, 0, l),
                                {2 * dt_dh * excess_flux(m, here, above, flux, 1, l),
                                 2 * dt_dh * excess_flux(m, here, above, flux, 2, l),
                                 2 * dt_dh * excess_flux(m, here, above, flux, 3, l)},
                                2 * dt_dh * excess_flux(m, here, above, flux, 4, l),
                                0};
    unsafe[l] = is_possible(low, excess, -1) & is_possible(high, excess, 1) ? 0 : 1;
    any |= unsafe[l];
  }
  return any;
}

static void first_order_flux(int i, const struct moving *restrict m, const real_bits unsafe[LANES],
                             real flux[restrict][LANES]) {
  for (int q = 0; q < 5; q++)
    for (int l = 0; l < LANES; l++)
      if (unsafe[l]) flux[q][l] = m->right[i & 3][q][l] - m->left[(i + 1) & 3][q][l];
}

/* Each stage follows the one before as soon as it has the cells that it needs, so that all of them
 * are near the processor. */
static bool rtvd_column(const struct constants *c, real dt_dh, const column_cell *restrict u,
                        column_cell *restrict flux, uint32_t first_order[restrict LANES]) {
  struct moving first, second; /* before the step, and half a step later */
  column_cell middle[4];
  bool any = false;
  for (int i = 0; i < GAS_BLOCK_SIDE; i++) {
    moving_fluxes(c, u[i], first.right[i & 3], first.left[i & 3]);
    if (i < 2) continue;
    const int m = i - 1;
    half_step((real)0.5 * dt_dh, u, m, &first, &middle[m & 3]);
    moving_fluxes(c, middle[m & 3], second.right[m & 3], second.left[m & 3]);
    if (i < 5) continue;
    real_bits unsafe[LANES];
    limited_flux(i - 3, &second, flux[i - 5]);
    if (!find_unsafe(dt_dh, u, i - 3, &first, middle, flux[i - 5], unsafe)) continue;
    first_order_flux(i - 3, &first, unsafe, flux[i - 5]);
    if (!any) memset(first_order, 0, LANES * sizeof *first_order);
    any = true;
    for (int l = 0; i < GAS_BLOCK_SIDE - 1 && l < LANES; l++) first_order[l] += unsafe[l] != 0;
  }
  return any;
}

#endif
