/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MUSCL-Hancock along one axis for columns of 22 cells: linear reconstruction of primitive
 * variables (van Leer 1979), half a time step in primitive form, and the HLLC solver (Toro, Riemann
 * Solvers, 3rd edition, section 14.4). */
#ifndef PHOTONS_HYDRO_KERNELS_MUSCL_H
#define PHOTONS_HYDRO_KERNELS_MUSCL_H

#include "riemann.h"

INLINE real limited_slope(enum gas_limiter limiter, real theta, real a, real b) {
  if (limiter == GAS_LIMITER_VAN_LEER) return a * b > 0 ? 2 * a * b / (a + b) : 0;
  const real size = smallest(theta * smallest(fabs(a), fabs(b)), (real)0.5 * fabs(a + b));
  return a * b > 0 ? copysign(size, a) : 0;
}

/* Changes of the primitive variables over a cell, which is between `below` and `above`. */
INLINE void slopes(enum gas_limiter limiter, real theta, const column_cell *restrict below,
                   const column_cell *restrict w, const column_cell *restrict above,
                   column_cell *restrict slope) {
  for (int q = 0; q < GAS_SOLVED_MAX; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      slope[0][q][l] = limited_slope(limiter, theta, w[0][q][l] - below[0][q][l],
                                     above[0][q][l] - w[0][q][l]);
}

/* State s after half a time step in which it changes by d over a cell. */
INLINE struct state half_step_state(real gamma, real half_dt_dh, struct state s, struct state d) {
  const real v = s.along;
  return (struct state){
      s.density - half_dt_dh * (v * d.density + s.density * d.along),
      s.along - half_dt_dh * (v * d.along + d.pressure / s.density),
      {s.across[0] - half_dt_dh * v * d.across[0], s.across[1] - half_dt_dh * v * d.across[1]},
      s.pressure - half_dt_dh * (v * d.pressure + gamma * s.pressure * d.along),
      s.entropy - half_dt_dh * v * d.entropy};
}

/* State s + part * d. */
INLINE struct state moved_state(struct state s, real part, struct state d) {
  return (struct state){s.density + part * d.density,
                        s.along + part * d.along,
                        {s.across[0] + part * d.across[0], s.across[1] + part * d.across[1]},
                        s.pressure + part * d.pressure,
                        s.entropy + part * d.entropy};
}

/* The states of a cell at its lower and upper face after half a time step. Where one of them has no
 * positive density or pressure, both are the cell's state before the step. */
INLINE void face_states(real gamma, real half_dt_dh, const column_cell *restrict w,
                        const column_cell *restrict slope, column_cell *restrict lower,
                        column_cell *restrict upper) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct state s = state_at(w, l), d = state_at(slope, l);
    const struct state middle = half_step_state(gamma, half_dt_dh, s, d);
    const struct state low = moved_state(middle, (real)-0.5, d),
                       high = moved_state(middle, (real)0.5, d);
    const bool good = smallest(smallest(low.density, high.density),
                               smallest(low.pressure, high.pressure)) > 0;
    put_state(lower, l, chosen_state(good, low, s));
    put_state(upper, l, chosen_state(good, high, s));
  }
}

/* Which cells are not physical after the step; whether there is any. */
INLINE real_bits find_unphysical(const struct constants *c, real dt_dh,
                                 const column_cell *restrict u, const real lower[restrict][LANES],
                                 const real upper[restrict][LANES],
                                 real_bits unphysical[restrict LANES]) {
  column_cell after;
  for (int q = 0; q < GAS_SOLVED_MAX; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      after[q][l] = after_step(u[0][q][l], dt_dh, lower[q][l], upper[q][l]);
  real_bits any = 0;
#pragma omp simd reduction(| : any)
  for (int l = 0; l < LANES; l++) {
    unphysical[l] = is_physical(c, column_at(&after, l)) ? 0 : 1;
    any |= unphysical[l];
  }
  return any;
}

/* Fluxes of first order through the faces of cells that would not be physical. Cell 2 of the column
 * is cell 0 of `unphysical`. */
static void first_order_fluxes(const struct constants *c, const column_cell *restrict u,
                               real_bits (*unphysical)[LANES], column_cell *restrict flux,
                               uint32_t first_order[restrict LANES]) {
  memset(first_order, 0, LANES * sizeof *first_order);
  for (int i = 0; i <= GAS_GROUP_SIDE; i++) {
    column_cell below, above, safe;
    primitive_variables(c, u + i + 2, &below);
    primitive_variables(c, u + i + 3, &above);
    riemann_flux(c, &below, &above, &safe);
    for (int q = 0; q < GAS_SOLVED_MAX; q++)
      for (int l = 0; l < LANES; l++)
        if (unphysical[i][l] | unphysical[i + 1][l]) flux[i][q][l] = safe[q][l];
    for (int l = 0; i < GAS_GROUP_SIDE && l < LANES; l++)
      first_order[l] += (unphysical[i][l] | unphysical[i + 1][l]) != 0;
  }
}

/* Each stage follows the one before as soon as it has the cells that it needs. Fluxes begin one
 * face before those of the group, because also the cells beside the group may fall back to first
 * order: their own group does the same. */
INLINE bool muscl_column(enum gas_limiter limiter, const struct constants *c, real dt_dh,
                         const column_cell *restrict u, const column_sides *sides,
                         column_cell *restrict flux, uint32_t first_order[restrict LANES]) {
  column_cell w[4], slope, lower[2], upper[2], beside[2];
  real_bits unphysical[GAS_GROUP_SIDE + 2][LANES], any = 0;
  real(*below)[LANES] = NULL;
  for (int i = 0; i < GAS_BLOCK_SIDE; i++) {
    primitive_variables(c, u + i, &w[i & 3]);
    if (i < 2) continue;
    const int m = i - 1;
    slopes(limiter, c->minmod, &w[(m - 1) & 3], &w[m & 3], &w[i & 3], &slope);
    face_states(c->gamma, (real)0.5 * dt_dh, &w[m & 3], &slope, &lower[m & 1], &upper[m & 1]);
    if (i < 3) continue;
    column_cell *here = i == 3 ? &beside[0] : i == GAS_BLOCK_SIDE - 1 ? &beside[1] : &flux[i - 4];
    face_flux(c, &upper[(m - 1) & 1], &lower[m & 1], sides ? sides + m - 1 : NULL, here);
    if (i > 3) any |= find_unphysical(c, dt_dh, u + (i - 2), below, *here, unphysical[i - 4]);
    below = *here;
  }
  if (any) first_order_fluxes(c, u, unphysical, flux, first_order);
  return any != 0;
}

static bool muscl_van_leer(const struct constants *c, real dt_dh, const column_cell *restrict u,
                           const column_sides *sides, column_cell *restrict flux,
                           uint32_t first_order[restrict LANES]) {
  return muscl_column(GAS_LIMITER_VAN_LEER, c, dt_dh, u, sides, flux, first_order);
}

static bool muscl_minmod(const struct constants *c, real dt_dh, const column_cell *restrict u,
                         const column_sides *sides, column_cell *restrict flux,
                         uint32_t first_order[restrict LANES]) {
  return muscl_column(GAS_LIMITER_MINMOD, c, dt_dh, u, sides, flux, first_order);
}

#endif
