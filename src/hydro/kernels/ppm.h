/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The piecewise parabolic method of Colella & Woodward 1984 (J. Comput. Phys. 54, 174; CW84) along one axis for
 * columns of 22 cells: slopes of characteristic variables, monotone parabolas, contacts that stay steep, states at
 * faces from those parts of the parabolas whose waves reach the face within the step, and the HLLC solver. */
#ifndef PHOTONS_HYDRO_KERNELS_PPM_H
#define PHOTONS_HYDRO_KERNELS_PPM_H

#include "muscl.h"

/** Of a cell: the speed of sound c, density times c, and the inverse of the latter. */
struct sound {
  real speed, impedance, inverse;
};
typedef real column_sound[3][LANES] __attribute__((aligned(64)));

INLINE struct sound sound_at(const column_sound *a, int l) {
  return (struct sound){a[0][0][l], a[0][1][l], a[0][2][l]};
}

/* 1/c^2 */
INLINE real inverse_square(struct sound a, real density) {
  const real slowness = density * a.inverse;
  return slowness * slowness;
}

INLINE void sounds(real gamma, const column_cell *restrict w, column_sound *restrict sound) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct state s = state_at(w, l);
    const real speed = sqrt(gamma * s.pressure / s.density), impedance = s.density * speed;
    sound[0][0][l] = speed;
    sound[0][1][l] = impedance;
    sound[0][2][l] = 1 / impedance;
  }
}

INLINE struct state difference(struct state a, struct state b) { return moved_state(a, -1, b); }

/* Limited to twice the smaller change, CW84 equation 1.8. */
INLINE real ppm_slope(real a, real b) { return limited_slope(GAS_LIMITER_MINMOD, 2, a, b); }

/* The change over a cell of density, velocity and pressure is limited for each wave: p -+ rho c v of the sound
 * and rho - p/c^2 of the contact. a, b: changes from the cell below and to the cell above */
INLINE struct state wave_slopes(struct sound s, real density, struct state a, struct state b) {
  const real square = inverse_square(s, density);
  const real left = ppm_slope(a.pressure - s.impedance * a.along,
                              b.pressure - s.impedance * b.along),
             right = ppm_slope(a.pressure + s.impedance * a.along,
                               b.pressure + s.impedance * b.along),
             contact = ppm_slope(a.density - square * a.pressure, b.density - square * b.pressure);
  const real pressure = (real)0.5 * (left + right);
  return (struct state){contact + square * pressure,
                        (real)0.5 * (right - left) * s.inverse,
                        {ppm_slope(a.across[0], b.across[0]), ppm_slope(a.across[1], b.across[1])},
                        pressure,
                        ppm_slope(a.entropy, b.entropy)};
}

INLINE void all_wave_slopes(const column_sound *restrict sound, const column_cell *restrict below,
                            const column_cell *restrict w, const column_cell *restrict above,
                            column_cell *restrict slope) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct state s = state_at(w, l);
    put_state(slope, l,
              wave_slopes(sound_at(sound, l), s.density, difference(s, state_at(below, l)),
                          difference(state_at(above, l), s)));
  }
}

/* Values at the face between two cells, CW84 equation 1.6, never beyond those of the cells. */
INLINE void edges(const column_cell *restrict w, const column_cell *restrict above,
                  const column_cell *restrict slope, const column_cell *restrict slope_above,
                  column_cell *restrict edge) {
  for (int q = 0; q < GAS_SOLVED_MAX; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const real a = w[0][q][l], b = above[0][q][l];
      const real middle = (real)0.5 * (a + b) -
                          (slope_above[0][q][l] - slope[0][q][l]) * (1 / (real)6);
      edge[0][q][l] = smallest(largest(middle, smallest(a, b)), largest(a, b));
    }
}

/* How much a cell looks like a contact, 0 to 1: CW84 equations 1.16, 1.17 and 3.2 with the constants there.
 * far_below, below, here, above, far_above: densities of the cell and of two on each side; low, high: pressures of
 * the cells beside it */
INLINE real steepness(real gamma, real far_below, real below, real here, real above, real far_above,
                      real low, real high) {
  const real rise = above - below, least = smallest(below, above);
  const real bend_below = here - 2 * below + far_below, bend_above = far_above - 2 * above + here;
  const bool is_contact = (real)0.1 * gamma * fabs(rise) * smallest(low, high) >=
                          fabs(high - low) * least;
  const bool is_jump = (bend_below * bend_above < 0) & (fabs(rise) > (real)0.01 * least);
  const real eta = 20 * ((bend_below - bend_above) / (6 * (is_jump ? rise : 1)) - (real)0.05);
  return is_contact & is_jump ? smallest(largest(eta, 0), 1) : 0;
}

/* The density at the faces of cells that look like contacts: what the slopes of the cells beside them say.
 * far_below, below, here, above, far_above: five cells, of which the middle one gets the edges; slope_below,
 * slope_above: of the cells beside it */
INLINE void steepen(real gamma, const column_cell *restrict far_below,
                    const column_cell *restrict below, const column_cell *restrict here,
                    const column_cell *restrict above, const column_cell *restrict far_above,
                    const column_cell *restrict slope_below,
                    const column_cell *restrict slope_above, real low[restrict LANES],
                    real high[restrict LANES]) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const real rho_below = below[0][0][l], rho_above = above[0][0][l];
    const real eta = steepness(gamma, far_below[0][0][l], rho_below, here[0][0][l], rho_above,
                               far_above[0][0][l], below[0][GAS_ENERGY][l],
                               above[0][GAS_ENERGY][l]);
    low[l] += eta * (rho_below + (real)0.5 * slope_below[0][0][l] - low[l]);
    high[l] += eta * (rho_above - (real)0.5 * slope_above[0][0][l] - high[l]);
  }
}

/* How far the parabola of a cell with mean w rises from its lower edge to w and from there to its upper edge.
 * It is made monotone, CW84 equation 1.10. */
INLINE void rises(const column_cell *restrict w, column_cell *restrict low,
                  column_cell *restrict high) {
  for (int q = 0; q < GAS_SOLVED_MAX; q++)
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      const real a = w[0][q][l] - low[0][q][l], b = high[0][q][l] - w[0][q][l];
      const bool rising = a * b > 0;
      low[0][q][l] = rising ? copysign(smallest(fabs(a), 2 * fabs(b)), a) : 0;
      high[0][q][l] = rising ? copysign(smallest(fabs(b), 2 * fabs(a)), b) : 0;
    }
}

/** The parabolas in a cell: means and rises. */
struct parabolas {
  struct state mean, low, high;
};

/* The mean of a parabola over the part x of a cell that is next to its upper face, CW84 equation 1.12. */
INLINE real part_mean(real mean, real low, real high, real x) {
  return mean + high - (real)0.5 * x * (low + high - (3 - 2 * x) * (low - high));
}

/* The state at a face that a cell's waves make in the mean over the step: what the fastest one brings, less
 * what the slower ones do not bring with it, CW84 section 3. `up` is 1 at the upper face. At the lower one it
 * is -1, and the parabolas are mirrored. */
INLINE struct state traced_state(real dt_dh, struct sound s, struct parabolas f, real up) {
  const struct state *m = &f.mean, *low = &f.low, *high = &f.high;
  const real v = up * m->along, square = inverse_square(s, m->density);
  const real fast = dt_dh * largest(v + s.speed, 0), middle = dt_dh * largest(v, 0),
             slow = dt_dh * largest(v - s.speed, 0);
  const real density = part_mean(m->density, low->density, high->density, fast),
             along = part_mean(m->along, low->along, high->along, fast),
             pressure = part_mean(m->pressure, low->pressure, high->pressure, fast);
  const real rho = density - part_mean(m->density, low->density, high->density, middle),
             p = pressure - part_mean(m->pressure, low->pressure, high->pressure, middle);
  const real contact = middle > 0 ? rho - square * p : 0;
  const real late_v = along - part_mean(m->along, low->along, high->along, slow),
             late_p = pressure - part_mean(m->pressure, low->pressure, high->pressure, slow);
  const real sound = slow > 0 ? (real)0.5 * (late_p - up * s.impedance * late_v) : 0;
  return (struct state){density - contact - square * sound,
                        along + up * s.inverse * sound,
                        {part_mean(m->across[0], low->across[0], high->across[0], middle),
                         part_mean(m->across[1], low->across[1], high->across[1], middle)},
                        pressure - sound,
                        part_mean(m->entropy, low->entropy, high->entropy, middle)};
}

INLINE struct state negative(struct state s) { return difference((struct state){0}, s); }

/* Whether p/rho of a state is larger than four times that of a cell. */
INLINE bool is_hotter(struct state s, const column_cell *cell, int l) {
  return s.pressure * cell[0][0][l] > 4 * cell[0][GAS_ENERGY][l] * s.density;
}

/* Beside a contact of very different densities an edge can have the density of the light gas and the pressure of the
 * dense one, which a cold cell takes from an entropy that has mixed: it would be hotter than all cells around.
 * w: the cell and the two beside it */
INLINE bool is_too_hot(struct state s, const column_cell *const w[3], int l) {
  return is_hotter(s, w[0], l) & is_hotter(s, w[1], l) & is_hotter(s, w[2], l);
}

/* Where one of the states has no positive density or pressure, or is too hot, both are the cell's state before the
 * step. w: the cell in the middle and the two beside it */
INLINE void traced_states(real dt_dh, const column_sound *restrict sound,
                          const column_cell *const w[3], const column_cell *restrict low,
                          const column_cell *restrict high, column_cell *restrict lower,
                          column_cell *restrict upper) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    const struct state mean = state_at(w[1], l), a = state_at(low, l), b = state_at(high, l);
    const struct sound s = sound_at(sound, l);
    const struct state up = traced_state(dt_dh, s, (struct parabolas){mean, a, b}, 1);
    const struct state down = traced_state(dt_dh, s,
                                           (struct parabolas){mean, negative(b), negative(a)}, -1);
    const bool good = (smallest(smallest(down.density, up.density),
                                smallest(down.pressure, up.pressure)) > 0) &
                      !is_too_hot(down, w, l) & !is_too_hot(up, w, l);
    put_state(lower, l, chosen_state(good, down, mean));
    put_state(upper, l, chosen_state(good, up, mean));
  }
}

/* The flux that a uniform gas has. */
INLINE struct cell uniform_flux(struct cell u, struct state w) {
  const real v = w.along;
  return (struct cell){u.momentum[0],
                       {u.momentum[0] * v + w.pressure, u.momentum[1] * v, u.momentum[2] * v},
                       (u.energy + w.pressure) * v,
                       u.entropy * v};
}

/* A cell after twice the change that one of its faces makes: u + part (flux - F(u)). */
INLINE bool half_is_physical(const struct constants *c, struct cell u, struct state w, real part,
                             struct cell flux) {
  const struct cell f = uniform_flux(u, w);
  const struct cell after = {u.density + part * (flux.density - f.density),
                             {u.momentum[0] + part * (flux.momentum[0] - f.momentum[0]),
                              u.momentum[1] + part * (flux.momentum[1] - f.momentum[1]),
                              u.momentum[2] + part * (flux.momentum[2] - f.momentum[2])},
                             u.energy + part * (flux.energy - f.energy),
                             u.entropy + part * (flux.entropy - f.entropy)};
  return is_physical(c, after) & is_positive(after.entropy);
}

/* The step of a cell, u - dt/dh (upper flux - lower flux), is the mean of u - 2 dt/dh (upper flux - F(u)) and
 * u + 2 dt/dh (lower flux - F(u)). Physical states are a convex set: the step leaves a physical one where both are
 * (Perthame & Shu 1996, Numer. Math. 73, 119). Both groups beside a face know what decides. Fluxes of first
 * order pass up to Courant numbers of 0.5: the halves then are means of a Riemann problem's solution.
 * @return whether there are faces that do not pass */
INLINE real_bits find_unsafe_faces(const struct constants *c, real dt_dh,
                                   const column_cell *restrict u, const column_cell *restrict below,
                                   const column_cell *restrict above,
                                   const column_cell *restrict flux,
                                   real_bits unsafe[restrict LANES]) {
  real_bits any = 0;
#pragma omp simd reduction(| : any)
  for (int l = 0; l < LANES; l++) {
    const struct cell f = column_at(flux, l);
    const bool safe = half_is_physical(c, column_at(u, l), state_at(below, l), -2 * dt_dh, f) &
                      half_is_physical(c, column_at(u + 1, l), state_at(above, l), 2 * dt_dh, f);
    unsafe[l] = safe ? 0 : 1;
    any |= unsafe[l];
  }
  return any;
}

/* A flux of first order where the one that is there is unsafe. */
static __attribute__((noinline)) void replace_unsafe(const struct constants *c,
                                                     const column_cell *restrict below,
                                                     const column_cell *restrict above,
                                                     const real_bits unsafe[restrict LANES],
                                                     column_cell *restrict flux) {
  column_cell safe;
  riemann_flux(c, below, above, &safe);
  for (int q = 0; q < GAS_SOLVED_MAX; q++)
    for (int l = 0; l < LANES; l++) flux[0][q][l] = unsafe[l] ? safe[q][l] : flux[0][q][l];
}

INLINE void primitives(const struct constants *c, const column_cell *restrict u,
                       column_cell *restrict w, column_sound *restrict sound) {
  primitive_variables(c, u, w);
  sounds(c->gamma, w, sound);
}

/* States at the faces of the middle one of five cells. below, above: slopes of the cells beside it; low, high:
 * values at its faces */
INLINE void states_at_faces(real gamma, real dt_dh, const column_cell *const w[5],
                            const column_sound *restrict sound, const column_cell *restrict below,
                            const column_cell *restrict above, const column_cell *low,
                            const column_cell *high, column_cell *restrict lower,
                            column_cell *restrict upper) {
  column_cell to_low, to_high;
  memcpy(to_low, low, sizeof to_low);
  memcpy(to_high, high, sizeof to_high);
  steepen(gamma, w[0], w[1], w[2], w[3], w[4], below, above, to_low[0], to_high[0]);
  rises(w[2], &to_low, &to_high);
  traced_states(dt_dh, sound, w + 1, &to_low, &to_high, lower, upper);
}

/** A face: cells before the step and primitive variables of the two beside it, the states at the face, and what
 * the cells know of strong shocks or NULL. */
struct face {
  const column_cell *u, *w[2], *state[2];
  const column_sides *sides;
};

/* @param[out] unsafe  where the flux is of first order */
INLINE void flux_at_face(const struct constants *c, real dt_dh, const struct face *face,
                         column_cell *restrict flux, real_bits unsafe[restrict LANES]) {
  face_flux(c, face->state[0], face->state[1], face->sides, flux);
  if (find_unsafe_faces(c, dt_dh, face->u, face->w[0], face->w[1], flux, unsafe))
    replace_unsafe(c, face->w[0], face->w[1], unsafe, flux);
}

/* Each stage follows the one before as soon as it has the cells that it needs: face number i - 5 has its flux
 * when cell i is known, and nothing else is needed of the cells behind the three on each side. */
static bool ppm_column(const struct constants *c, real dt_dh, const column_cell *restrict u,
                       const column_sides *sides, column_cell *restrict flux,
                       uint32_t first_order[restrict LANES]) {
  column_cell w[8], slope[4], edge[2], lower, upper[2];
  column_sound sound[4];
  real_bits unsafe[LANES], any = 0;
  memset(first_order, 0, LANES * sizeof *first_order);
  for (int i = 0; i < GAS_BLOCK_SIDE; i++) {
    const int m = i - 2, f = i - 5;
    const column_cell *const five[5] = {&w[(m - 2) & 7], &w[(m - 1) & 7], &w[m & 7],
                                        &w[(m + 1) & 7], &w[i & 7]};
    primitives(c, u + i, &w[i & 7], &sound[i & 3]);
    if (m < 0) continue;
    all_wave_slopes(&sound[(m + 1) & 3], five[2], five[3], five[4], &slope[(m + 1) & 3]);
    if (m < 1) continue;
    edges(five[2], five[3], &slope[m & 3], &slope[(m + 1) & 3], &edge[m & 1]);
    if (m < 2) continue;
    states_at_faces(c->gamma, dt_dh, five, &sound[m & 3], &slope[(m - 1) & 3], &slope[(m + 1) & 3],
                    &edge[(m - 1) & 1], &edge[m & 1], &lower, &upper[m & 1]);
    if (f < 0) continue;
    const struct face face = {
        u + m - 1, {five[1], five[2]}, {&upper[(m - 1) & 1], &lower}, sides ? sides + m - 1 : NULL};
    flux_at_face(c, dt_dh, &face, &flux[f], unsafe);
    for (int l = 0; l < LANES; l++) any |= unsafe[l];
    for (int l = 0; f < GAS_GROUP_SIDE && l < LANES; l++) first_order[l] += (uint32_t)unsafe[l];
  }
  return any != 0;
}

#endif
