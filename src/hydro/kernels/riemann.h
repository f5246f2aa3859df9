/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Primitive variables and the Riemann problem between two of their states: the HLLC and HLL solvers (Toro,
 * Riemann Solvers, 3rd edition, chapter 10) with the wave speeds of Einfeldt et al. 1991 (J. Comput. Phys.
 * 92, 273). */
#ifndef PHOTONS_HYDRO_KERNELS_RIEMANN_H
#define PHOTONS_HYDRO_KERNELS_RIEMANN_H

#include "column.h"

/** Primitive variables of one place: the velocity along the column and across it; entropy per mass,
 * which the gas carries along. In arrays of column_cell they stand in this order. */
struct state {
  real density, along, across[2], pressure, entropy;
};

INLINE struct state state_at(const column_cell *w, int l) {
  return (struct state){w[0][0][l], w[0][1][l], {w[0][2][l], w[0][3][l]}, w[0][4][l], w[0][5][l]};
}

INLINE void put_state(column_cell *w, int l, struct state s) {
  w[0][0][l] = s.density;
  w[0][1][l] = s.along;
  w[0][2][l] = s.across[0];
  w[0][3][l] = s.across[1];
  w[0][4][l] = s.pressure;
  w[0][5][l] = s.entropy;
}

INLINE void put_flux(column_cell *flux, int l, struct cell f) {
  put_state(flux, l,
            (struct state){
                f.density, f.momentum[0], {f.momentum[1], f.momentum[2]}, f.energy, f.entropy});
}

INLINE struct cell column_at(const column_cell *u, int l) {
  return (struct cell){u[0][0][l], {u[0][1][l], u[0][2][l], u[0][3][l]}, u[0][4][l], u[0][5][l]};
}

/* Pressures of cold cells, whose entropy decides: rare, and powers are dear. */
static void cold_pressures(const struct constants *c, const column_cell *u, column_cell *w) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) w[0][GAS_ENERGY][l] = pressure_of(c, column_at(u, l));
}

INLINE void primitive_variables(const struct constants *c, const column_cell *restrict u,
                                column_cell *restrict w) {
  real_bits cold = 0;
#pragma omp simd reduction(| : cold)
  for (int l = 0; l < LANES; l++) {
    const struct cell a = column_at(u, l);
    const real thermal = thermal_energy(a), volume = 1 / a.density;
    put_state(w, l,
              (struct state){a.density,
                             a.momentum[0] * volume,
                             {a.momentum[1] * volume, a.momentum[2] * volume},
                             c->thermal * thermal,
                             a.entropy * volume});
    cold |= entropy_decides(c, a, thermal) ? 1 : 0;
  }
  if (cold) cold_pressures(c, u, w);
}

INLINE struct state chosen_state(bool first, struct state a, struct state b) {
  return (struct state){first ? a.density : b.density,
                        first ? a.along : b.along,
                        {first ? a.across[0] : b.across[0], first ? a.across[1] : b.across[1]},
                        first ? a.pressure : b.pressure,
                        first ? a.entropy : b.entropy};
}

/** The outermost waves of a Riemann problem and its contact. */
struct waves {
  real left, contact, right;
};

INLINE struct waves wave_speeds(real gamma, struct state a, struct state b) {
  const real root_a = sqrt(a.density), root_b = sqrt(b.density);
  const real part_a = root_a / (root_a + root_b), part_b = 1 - part_a;
  const real square_a = gamma * a.pressure / a.density, square_b = gamma * b.pressure / b.density;
  const real jump = b.along - a.along, v = part_a * a.along + part_b * b.along;
  const real sound = sqrt(part_a * square_a + part_b * square_b +
                          (real)0.5 * part_a * part_b * jump * jump);
  /* Sound that is lost beside the velocity must not make the waves one. */
  const real margin = 4 * REAL_EPSILON * (fabs(a.along) + fabs(b.along));
  struct waves s = {.left = smallest(a.along - sqrt(square_a), v - sound) - margin,
                    .right = largest(b.along + sqrt(square_b), v + sound) + margin};
  const real mass_a = a.density * (s.left - a.along), mass_b = b.density * (s.right - b.along);
  s.contact = (b.pressure - a.pressure + mass_a * a.along - mass_b * b.along) / (mass_a - mass_b);
  return s;
}

/* The flux of Riemann problem a | b by HLLC. The side of the contact on which the face lies gives
 * the flux: F + S (U* - U) where the face is within the fan of waves, F where it is outside. */
INLINE struct cell hllc(const struct constants *c, struct waves wave, struct state a,
                        struct state b) {
  const bool from_left = wave.contact >= 0;
  const struct state s = chosen_state(from_left, a, b);
  const real outer = from_left ? wave.left : wave.right;
  const real inside = from_left ? smallest(outer, 0) : largest(outer, 0);

  const real v = s.along, mass = s.density * (outer - v);
  const real star = mass / (outer - wave.contact);
  const real square = v * v + s.across[0] * s.across[0] + s.across[1] * s.across[1];
  const real energy = (real)0.5 * s.density * square + s.pressure / c->thermal;
  const real star_energy = star * (energy / s.density +
                                   (wave.contact - v) * (wave.contact + s.pressure / mass));
  const real mass_flux = s.density * v + inside * (star - s.density);
  return (struct cell){
      mass_flux,
      {s.density * v * v + s.pressure + inside * (star * wave.contact - s.density * v),
       mass_flux * s.across[0], mass_flux * s.across[1]},
      (energy + s.pressure) * v + inside * (star_energy - energy),
      mass_flux * s.entropy};
}

INLINE void riemann_flux(const struct constants *c, const column_cell *restrict a,
                         const column_cell *restrict b, column_cell *restrict flux) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct state s = state_at(a, l), t = state_at(b, l);
    put_flux(flux, l, hllc(c, wave_speeds(c->gamma, s, t), s, t));
  }
}

/** What is conserved in one place, or its flux. */
INLINE struct cell conserved(const struct constants *c, struct state s) {
  const real square = s.along * s.along + s.across[0] * s.across[0] + s.across[1] * s.across[1];
  return (struct cell){s.density,
                       {s.density * s.along, s.density * s.across[0], s.density * s.across[1]},
                       (real)0.5 * s.density * square + s.pressure / c->thermal,
                       s.density * s.entropy};
}

/* The flux of Riemann problem a | b by HLL: between its outermost waves is one state. */
INLINE struct cell hll(const struct constants *c, struct waves wave, struct state a,
                       struct state b) {
  const real left = smallest(wave.left, 0), right = largest(wave.right, 0);
  const struct cell u = conserved(c, a), v = conserved(c, b);
  /* (right F(a) - left F(b) + left right (v - u)) / (right - left) */
  const real part = right / (right - left), other = 1 - part, jump = part * left;
  const real from = part * a.along, to = other * b.along;
  return (struct cell){
      from * u.density + to * v.density + jump * (v.density - u.density),
      {from * u.momentum[0] + to * v.momentum[0] + part * a.pressure + other * b.pressure +
           jump * (v.momentum[0] - u.momentum[0]),
       from * u.momentum[1] + to * v.momentum[1] + jump * (v.momentum[1] - u.momentum[1]),
       from * u.momentum[2] + to * v.momentum[2] + jump * (v.momentum[2] - u.momentum[2])},
      from * (u.energy + a.pressure) + to * (v.energy + b.pressure) + jump * (v.energy - u.energy),
      from * u.entropy + to * v.entropy + jump * (v.entropy - u.entropy)};
}

INLINE struct cell chosen_flux(bool first, struct cell a, struct cell b) {
  return (struct cell){first ? a.density : b.density,
                       {first ? a.momentum[0] : b.momentum[0],
                        first ? a.momentum[1] : b.momentum[1],
                        first ? a.momentum[2] : b.momentum[2]},
                       first ? a.energy : b.energy,
                       first ? a.entropy : b.entropy};
}

/* The fluxes of HLL where one of the two cells is beside a strong shock, of HLLC elsewhere. */
static void diffusive_flux(const struct constants *c, const column_cell *restrict a,
                           const column_cell *restrict b, const column_sides sides[2],
                           column_cell *restrict flux) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct state s = state_at(a, l), t = state_at(b, l);
    const struct waves wave = wave_speeds(c->gamma, s, t);
    const bool beside = (sides[0][l] | sides[1][l]) != 0;
    put_flux(flux, l, chosen_flux(beside, hll(c, wave, s, t), hllc(c, wave, s, t)));
  }
}

INLINE bool any_beside(const column_sides sides[2]) {
  real_bits any = 0;
  for (int l = 0; l < LANES; l++) any |= sides[0][l] | sides[1][l];
  return any != 0;
}

/** The fluxes of Riemann problems a | b.
 * sides: of the cells below and above the face, or NULL */
INLINE void face_flux(const struct constants *c, const column_cell *restrict a,
                      const column_cell *restrict b, const column_sides *sides,
                      column_cell *restrict flux) {
  if (sides && any_beside(sides))
    diffusive_flux(c, a, b, sides, flux);
  else
    riemann_flux(c, a, b, flux);
}

#endif
