/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MUSCL-Hancock along one axis for columns of 22 cells: linear reconstruction of primitive variables
 * (van Leer 1979), half a time step in primitive form, and the HLLC solver (Toro, Riemann Solvers,
 * 3rd edition, sections 10.4 and 14.4) with the wave speeds of Einfeldt et al. 1991 (J. Comput. Phys.
 * 92, 273). */
#ifndef PHOTONS_GAS_KERNELS_MUSCL_H
#define PHOTONS_GAS_KERNELS_MUSCL_H

#include "column.h"

enum { DENSITY, NORMAL, ACROSS_1, ACROSS_2, PRESSURE, ENTROPY_OF_MASS, PRIMITIVES };

/** Primitive variables of one place. The last one is entropy / density, carried by the mass. */
struct state {
  real w[PRIMITIVES];
};

INLINE struct state state_at(const column_cell *w, int l) {
  struct state s;
  for (int q = 0; q < PRIMITIVES; q++) s.w[q] = w[0][q][l];
  return s;
}

INLINE struct cell column_at(const column_cell *u, int l) {
  return (struct cell){u[0][0][l], {u[0][1][l], u[0][2][l], u[0][3][l]}, u[0][4][l], u[0][5][l]};
}

/* Pressures of cold cells, whose entropy decides: rare, and powers are dear. */
static void cold_pressures(const struct constants *c, const column_cell *u, column_cell *w) {
  for (int l = 0; l < LANES; l++) w[0][PRESSURE][l] = pressure_of(c, column_at(u, l));
}

INLINE void primitive_variables(const struct constants *c, const column_cell *restrict u,
                                column_cell *restrict w) {
  int cold = 0;
#pragma omp simd reduction(| : cold)
  for (int l = 0; l < LANES; l++) {
    const struct cell a = column_at(u, l);
    const real thermal = thermal_energy(a), volume = 1 / a.density;
    w[0][DENSITY][l] = a.density;
    for (int q = 0; q < 3; q++) w[0][NORMAL + q][l] = a.momentum[q] * volume;
    w[0][PRESSURE][l] = c->thermal * thermal;
    w[0][ENTROPY_OF_MASS][l] = a.entropy * volume;
    cold |= entropy_decides(c, a, thermal);
  }
  if (cold) cold_pressures(c, u, w);
}

INLINE real limited_slope(enum gas_limiter limiter, real theta, real a, real b) {
  if (limiter == GAS_LIMITER_VAN_LEER) return a * b > 0 ? 2 * a * b / (a + b) : 0;
  const real size = smallest(theta * smallest(fabs(a), fabs(b)), (real)0.5 * fabs(a + b));
  return a * b > 0 ? copysign(size, a) : 0;
}

/* The change of a primitive state by half a time step, from the change over one cell. */
INLINE struct state half_step_change(real gamma, real half_dt_dh, struct state s, struct state d) {
  const real v = s.w[NORMAL], dv = d.w[NORMAL];
  struct state change;
  for (int q = 0; q < PRIMITIVES; q++) change.w[q] = v * d.w[q];
  change.w[DENSITY] += s.w[DENSITY] * dv;
  change.w[NORMAL] += d.w[PRESSURE] / s.w[DENSITY];
  change.w[PRESSURE] += gamma * s.w[PRESSURE] * dv;
  for (int q = 0; q < PRIMITIVES; q++) change.w[q] *= -half_dt_dh;
  return change;
}

/* The states of a cell at its lower and upper face after half a time step. Where one of them has no
 * positive density or pressure both are the cell's state before the step. */
INLINE void face_states(enum gas_limiter limiter, const struct constants *c, real half_dt_dh,
                        const column_cell *restrict w, column_cell *restrict lower,
                        column_cell *restrict upper) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    struct state s = state_at(w, l), d, low, high;
    for (int q = 0; q < PRIMITIVES; q++)
      d.w[q] = limited_slope(limiter, c->minmod, s.w[q] - w[-1][q][l], w[1][q][l] - s.w[q]);
    const struct state change = half_step_change(c->gamma, half_dt_dh, s, d);
    for (int q = 0; q < PRIMITIVES; q++) {
      low.w[q] = s.w[q] + change.w[q] - (real)0.5 * d.w[q];
      high.w[q] = s.w[q] + change.w[q] + (real)0.5 * d.w[q];
    }
    const bool good = (smallest(low.w[DENSITY], high.w[DENSITY]) > 0) &
                      (smallest(low.w[PRESSURE], high.w[PRESSURE]) > 0);
    for (int q = 0; q < PRIMITIVES; q++) {
      lower[0][q][l] = good ? low.w[q] : s.w[q];
      upper[0][q][l] = good ? high.w[q] : s.w[q];
    }
  }
}

/** The outermost waves of a Riemann problem and its contact. */
struct waves {
  real left, contact, right;
};

INLINE struct waves wave_speeds(const struct constants *c, struct state a, struct state b) {
  const real root_a = sqrt(a.w[DENSITY]), root_b = sqrt(b.w[DENSITY]);
  const real part_a = root_a / (root_a + root_b), part_b = 1 - part_a;
  const real square_a = c->gamma * a.w[PRESSURE] / a.w[DENSITY],
             square_b = c->gamma * b.w[PRESSURE] / b.w[DENSITY];
  const real jump = b.w[NORMAL] - a.w[NORMAL];
  const real v = part_a * a.w[NORMAL] + part_b * b.w[NORMAL];
  const real sound = sqrt(part_a * square_a + part_b * square_b +
                          (real)0.5 * part_a * part_b * jump * jump);
  /* Sound that is lost beside the velocity must not make the waves one. */
  const real margin = 4 * REAL_EPSILON * (fabs(a.w[NORMAL]) + fabs(b.w[NORMAL]));
  struct waves s = {.left = smallest(a.w[NORMAL] - sqrt(square_a), v - sound) - margin,
                    .right = largest(b.w[NORMAL] + sqrt(square_b), v + sound) + margin};
  const real mass_a = a.w[DENSITY] * (s.left - a.w[NORMAL]),
             mass_b = b.w[DENSITY] * (s.right - b.w[NORMAL]);
  s.contact = (b.w[PRESSURE] - a.w[PRESSURE] + mass_a * a.w[NORMAL] - mass_b * b.w[NORMAL]) /
              (mass_a - mass_b);
  return s;
}

/* The flux of Riemann problem a | b by HLLC. The side of the contact on which the face lies gives
 * the flux: F + S (U* - U) where the face is within the fan of waves, F where it is outside. */
INLINE void hllc(const struct constants *c, struct state a, struct state b,
                 real flux[GAS_VARIABLES_MAX]) {
  const struct waves wave = wave_speeds(c, a, b);
  const bool from_left = wave.contact >= 0;
  struct state s;
  for (int q = 0; q < PRIMITIVES; q++) s.w[q] = from_left ? a.w[q] : b.w[q];
  const real outer = from_left ? wave.left : wave.right;
  const real inside = from_left ? smallest(outer, 0) : largest(outer, 0);

  const real density = s.w[DENSITY], v = s.w[NORMAL], p = s.w[PRESSURE];
  const real mass = density * (outer - v);
  const real star = mass / (outer - wave.contact);
  const real kinetic = (real)0.5 * density *
                       (v * v + s.w[ACROSS_1] * s.w[ACROSS_1] + s.w[ACROSS_2] * s.w[ACROSS_2]);
  const real energy = kinetic + p / c->thermal;
  const real star_energy =
      star * (energy / density + (wave.contact - v) * (wave.contact + p / mass));
  flux[0] = density * v + inside * (star - density);
  flux[1] = density * v * v + p + inside * (star * wave.contact - density * v);
  flux[2] = flux[0] * s.w[ACROSS_1];
  flux[3] = flux[0] * s.w[ACROSS_2];
  flux[4] = (energy + p) * v + inside * (star_energy - energy);
  flux[5] = flux[0] * s.w[ENTROPY_OF_MASS];
}

INLINE void riemann_flux(const struct constants *c, const column_cell *restrict a,
                         const column_cell *restrict b, column_cell *restrict flux) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    real f[GAS_VARIABLES_MAX];
    hllc(c, state_at(a, l), state_at(b, l), f);
    for (int q = 0; q < GAS_VARIABLES_MAX; q++) flux[0][q][l] = f[q];
  }
}

/* Whether a cell is physical after the step. */
INLINE int find_unphysical(const struct constants *c, real dt_dh, const column_cell *restrict u,
                           const column_cell *restrict flux, real_bits unphysical[restrict LANES]) {
  int any = 0;
#pragma omp simd reduction(| : any)
  for (int l = 0; l < LANES; l++) {
    real after[GAS_VARIABLES_MAX];
    for (int q = 0; q < GAS_VARIABLES_MAX; q++)
      after[q] = after_step(u[0][q][l], dt_dh, flux[0][q][l], flux[1][q][l]);
    const bool bad = !is_physical(
        c, (struct cell){after[0], {after[1], after[2], after[3]}, after[4], after[5]});
    unphysical[l] = bad;
    any |= bad;
  }
  return any;
}

/* Fluxes of first order through the faces of cells that would not be physical. */
static void first_order_fluxes(const struct constants *c, const column_cell *restrict w,
                               real_bits (*unphysical)[LANES], column_cell *restrict flux) {
  for (int i = 0; i <= GAS_GROUP_SIDE; i++) {
    column_cell safe;
    riemann_flux(c, w + i + 2, w + i + 3, &safe);
    for (int q = 0; q < GAS_VARIABLES_MAX; q++)
      for (int l = 0; l < LANES; l++)
        if (unphysical[i][l] | unphysical[i + 1][l]) flux[i][q][l] = safe[q][l];
  }
}

/* Faces and cells count from the face below cell 2 here, so that the cells beside the group's own
 * fall back to first order as their own group lets them. */
INLINE void muscl_column(enum gas_limiter limiter, const struct constants *c, real dt_dh,
                         const column_cell *restrict u, column_cell *restrict result) {
  enum { FACES = GAS_GROUP_SIDE + 3 };
  column_cell w[GAS_BLOCK_SIDE], lower[GAS_BLOCK_SIDE], upper[GAS_BLOCK_SIDE], flux[FACES];
  real_bits unphysical[FACES - 1][LANES];
  for (int i = 0; i < GAS_BLOCK_SIDE; i++) primitive_variables(c, u + i, w + i);
  for (int i = 1; i < GAS_BLOCK_SIDE - 1; i++)
    face_states(limiter, c, (real)0.5 * dt_dh, w + i, lower + i, upper + i);
  for (int i = 0; i < FACES; i++) riemann_flux(c, upper + i + 1, lower + i + 2, flux + i);
  int any = 0;
  for (int i = 0; i < FACES - 1; i++)
    any |= find_unphysical(c, dt_dh, u + i + 2, flux + i, unphysical[i]);
  if (any) first_order_fluxes(c, w, unphysical, flux + 1);
  memcpy(result, flux + 1, (GAS_GROUP_SIDE + 1) * sizeof *result);
}

static void muscl_van_leer(const struct constants *c, real dt_dh, const column_cell *restrict u,
                           column_cell *restrict flux) {
  muscl_column(GAS_LIMITER_VAN_LEER, c, dt_dh, u, flux);
}

static void muscl_minmod(const struct constants *c, real dt_dh, const column_cell *restrict u,
                         column_cell *restrict flux) {
  muscl_column(GAS_LIMITER_MINMOD, c, dt_dh, u, flux);
}

#endif
