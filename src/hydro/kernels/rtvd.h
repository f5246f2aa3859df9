/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxing TVD scheme (Jin & Xin 1995; Trac & Pen 2003, PASP 115, 303) as Schive, Tsai & Chiueh
 * 2010 (ApJS 186, 457, equations 6 to 14) have it, along one axis for columns of 22 cells. */
#ifndef PHOTONS_HYDRO_KERNELS_RTVD_H
#define PHOTONS_HYDRO_KERNELS_RTVD_H

#include "column.h"

/** The fluxes to the right and to the left in one cell, and its freezing speed c = |v| + c_s and thermal
 * energy. */
struct moving_cell {
  real right[5], left[5], speed, thermal;
};

/* Equation 8: (c u + F)/2 and (c u - F)/2. */
INLINE struct moving_cell moving_cell_at(const struct constants *c, const real u[restrict][LANES],
                                         int l) {
  const struct cell a = {u[0][l], {u[1][l], u[2][l], u[3][l]}, u[4][l], 0};
  const real thermal = thermal_energy(a), p = c->thermal * thermal;
  const real v = a.momentum[0] / a.density;
  const real speed = fabs(v) + sqrt(c->gamma * largest(p, 0) / a.density);
  const real half_speed = (real)0.5 * speed, half_v = (real)0.5 * v;
  const real half_flux[5] = {(real)0.5 * a.momentum[0], a.momentum[0] * half_v + (real)0.5 * p,
                             a.momentum[1] * half_v, a.momentum[2] * half_v,
                             (a.energy + p) * half_v};
  struct moving_cell m = {.speed = speed, .thermal = thermal};
  for (int q = 0; q < 5; q++) {
    m.right[q] = half_speed * u[q][l] + half_flux[q];
    m.left[q] = half_speed * u[q][l] - half_flux[q];
  }
  return m;
}

/** What find_doubtful() needs of a cell. */
struct bounds {
  real room[LANES]; /**< the flux of energy through a face that the cell can stand; at least 0 */
  real specific[LANES]; /**< energy per mass */
};

/* The flux of first order through the lower face of a cell, and what the cell can stand.
 * right: moving flux of the cell below, which becomes that of the cell */
INLINE void upwind_flux(const struct constants *c, real dh_dt, const real u[restrict][LANES],
                        real right[restrict][LANES], real flux[restrict][LANES],
                        struct bounds *restrict bounds) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct moving_cell m = moving_cell_at(c, u, l);
    const real hot = largest(m.thermal - (real)0x1p-8 * u[4][l], 0);
    bounds->room[l] = largest(dh_dt - m.speed, 0) * hot * (1 / (real)9);
    bounds->specific[l] = u[4][l] / u[0][l];
    for (int q = 0; q < 5; q++) {
      flux[q][l] = right[q][l] - m.left[q];
      right[q][l] = m.right[q];
    }
  }
}

INLINE void moving_fluxes(const struct constants *c, const real u[restrict][LANES],
                          real right[restrict][LANES], real left[restrict][LANES]) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct moving_cell m = moving_cell_at(c, u, l);
    for (int q = 0; q < 5; q++) {
      right[q][l] = m.right[q];
      left[q][l] = m.left[q];
    }
  }
}

/** The moving fluxes of the latest four cells of a column; cell i is at i modulo 4. */
struct moving {
  column_cell right[4], left[4];
};

/* A cell after half a step with upwind fluxes, equation 13. */
INLINE void half_step(real half_dt_dh, const real u[restrict][LANES],
                      const real lower[restrict][LANES], const real upper[restrict][LANES],
                      real middle[restrict][LANES]) {
  for (int q = 0; q < 5; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      middle[q][l] = u[q][l] - half_dt_dh * (upper[q][l] - lower[q][l]);
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

/* A cell after a step of first order: twice the half of it. */
INLINE struct cell safe_cell(real half_dt_dh, const real u[restrict][LANES],
                             const real lower[restrict][LANES], const real upper[restrict][LANES],
                             int l) {
  real after[5];
  for (int q = 0; q < 5; q++)
    after[q] = 2 * (u[q][l] - half_dt_dh * (upper[q][l] - lower[q][l])) - u[q][l];
  return (struct cell){after[0], {after[1], after[2], after[3]}, after[4], 0};
}

/* What a flux has beyond that of first order. */
INLINE struct cell excess_flux(const real flux[restrict][LANES], const real upwind[restrict][LANES],
                               int l) {
  return (struct cell){
      flux[0][l] - upwind[0][l],
      {flux[1][l] - upwind[1][l], flux[2][l] - upwind[2][l], flux[3][l] - upwind[3][l]},
      flux[4][l] - upwind[4][l],
      0};
}

/* Makes the flux between cells i and i + 1 one of first order where that of second order may take more
 * from a cell than it has. The step of first order, u1 = u - dt/dh (f1 above - f1 below), keeps density
 * and pressure positive. The step of second order is the mean of u1 - 2 dt/dh (f - f1) of the face above
 * and u1 + 2 dt/dh (f - f1) of the face below. States with positive density and pressure are a convex set:
 * the mean is in it where both are (Perthame & Shu 1996, Numer. Math. 73, 119; Hu, Adams & Shu 2013, J.
 * Comput. Phys. 242, 169). Both groups beside a face know what decides.
 * u: the two cells; upwind: fluxes of first order through their three faces */
INLINE real_bits find_unsafe(real dt_dh, const column_cell *restrict u,
                             const column_cell *restrict upwind, const real flux[restrict][LANES],
                             real_bits unsafe[restrict LANES]) {
  const real half_dt_dh = (real)0.5 * dt_dh;
  real_bits any = 0;
#pragma omp simd reduction(| : any)
  for (int l = 0; l < LANES; l++) {
    const struct cell low = safe_cell(half_dt_dh, u[0], upwind[0], upwind[1], l),
                      high = safe_cell(half_dt_dh, u[1], upwind[1], upwind[2], l);
    const struct cell e = excess_flux(flux, upwind[1], l);
    const struct cell excess = {
        2 * dt_dh * e.density,
        {2 * dt_dh * e.momentum[0], 2 * dt_dh * e.momentum[1], 2 * dt_dh * e.momentum[2]},
        2 * dt_dh * e.energy,
        0};
    unsafe[l] = is_possible(low, excess, -1) & is_possible(high, excess, 1) ? 0 : 1;
    any |= unsafe[l];
  }
  return any;
}

/* Faces at which a bound does not exclude an unsafe flux, so that the dearer find_unsafe() is rare. Let a cell
 * u have the speed c, the thermal energy e and the energy per mass h. Its u1 is (1 - c dt/dh) u and a state
 * that is positive, too. By Galilei's transformation (1 - c dt/dh) u -+ d is positive where
 * |d_energy| + sqrt(2 h) |d_momentum| + h |d_density| is at most 0.4 (1 - c dt/dh) e: a fifth of the product
 * of density and thermal energy is left, far more than rounding takes from cells with at least 1/256 of their
 * energy in heat. The square of the sum is at most three times the sum of the squares; d is
 * 2 dt/dh (f - f1), and 2 sqrt(3)/0.4 < 9.
 * bounds: of cell 2 and those that follow; upwind: of the upper face of cell 2 and those that follow
 * @return whether there are any */
INLINE bool find_doubtful(const struct bounds *restrict bounds, const column_cell *restrict upwind,
                          const column_cell *restrict flux, real_bits (*restrict doubt)[LANES]) {
  real_bits lanes[LANES] = {0}, any = 0;
  for (int f = 0; f <= GAS_GROUP_SIDE; f++)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const struct cell e = excess_flux(flux[f], upwind[f], l);
      const real room = smallest(bounds[f].room[l], bounds[f + 1].room[l]),
                 specific = largest(bounds[f].specific[l], bounds[f + 1].specific[l]);
      const real momentum = e.momentum[0] * e.momentum[0] + e.momentum[1] * e.momentum[1] +
                            e.momentum[2] * e.momentum[2];
      const real squares = e.energy * e.energy +
                           specific * (2 * momentum + specific * (e.density * e.density));
      doubt[f][l] = is_positive(room * room - squares) ? 0 : 1;
      lanes[l] |= doubt[f][l];
    }
  for (int l = 0; l < LANES; l++) any |= lanes[l];
  return any != 0;
}

INLINE bool any_lane(const real_bits lanes[LANES]) {
  real_bits any = 0;
  for (int l = 0; l < LANES; l++) any |= lanes[l];
  return any != 0;
}

/* Fluxes of first order where find_unsafe() says so. @return whether there are any */
static bool keep_positive(real dt_dh, const column_cell *restrict u,
                          const column_cell *restrict upwind, const real_bits (*doubt)[LANES],
                          column_cell *restrict flux, uint32_t first_order[restrict LANES]) {
  bool any = false;
  for (int f = 0; f <= GAS_GROUP_SIDE; f++) {
    real_bits unsafe[LANES];
    if (!any_lane(doubt[f]) || !find_unsafe(dt_dh, u + f + 2, upwind + f + 2, flux[f], unsafe))
      continue;
    for (int q = 0; q < 5; q++)
      for (int l = 0; l < LANES; l++)
        if (unsafe[l]) flux[f][q][l] = upwind[f + 3][q][l];
    if (!any) memset(first_order, 0, LANES * sizeof *first_order);
    any = true;
    for (int l = 0; f < GAS_GROUP_SIDE && l < LANES; l++) first_order[l] += unsafe[l] != 0;
  }
  return any;
}

/* Each stage follows the one before as soon as it has the cells that it needs, so that all of them
 * are near the processor. */
static bool rtvd_column(const struct constants *c, real dt_dh, const column_cell *restrict u,
                        const column_sides *sides, column_cell *restrict flux,
                        uint32_t first_order[restrict LANES]) {
  (void)sides;         /* its fluxes are diffusive enough everywhere */
  struct moving later; /* half a step later */
  column_cell right,
      upwind[GAS_BLOCK_SIDE]; /* before the step; upwind: of the lower face of a cell */
  column_cell middle;
  struct bounds bounds[GAS_BLOCK_SIDE];
  memset(right, 0, sizeof right);
  upwind_flux(c, 1 / dt_dh, u[0], right, upwind[0], &bounds[0]);
  upwind_flux(c, 1 / dt_dh, u[1], right, upwind[1], &bounds[1]);
  for (int i = 2; i < GAS_BLOCK_SIDE; i++) {
    const int m = i - 1;
    upwind_flux(c, 1 / dt_dh, u[i], right, upwind[i], &bounds[i]);
    half_step((real)0.5 * dt_dh, u[m], upwind[m], upwind[i], middle);
    moving_fluxes(c, middle, later.right[m & 3], later.left[m & 3]);
    if (i >= 5) limited_flux(i - 3, &later, flux[i - 5]);
  }
  real_bits doubt[GAS_GROUP_SIDE + 1][LANES];
  return find_doubtful(bounds + 2, upwind + 3, flux, doubt) &&
         keep_positive(dt_dh, u, upwind, doubt, flux, first_order);
}

#endif
