/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of fixed masses about the origin of an isolated system, in which its particles move, on
 * cores and GPUs alike. All is in double precision: it costs little beside the forces of particles,
 * and the energy of an orbit is then as exact as its steps are.
 *
 * Units: kpc, km/s, hence (km/s)^2 for potentials and (km/s)^2/kpc for accelerations. */
#ifndef PHOTONS_EXTERNAL_FIELD_H
#define PHOTONS_EXTERNAL_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/host_device.h"

enum external_kind {
  EXTERNAL_POINT,       /**< -G M/sqrt(r^2 + a^2) */
  EXTERNAL_LOGARITHMIC, /**< v^2/2 ln(a^2 + R^2 + z^2/q^2), Binney & Tremaine 2008, eq. 2.71a */
  EXTERNAL_MIYAMOTO,    /**< Miyamoto & Nagai 1975 */
  EXTERNAL_NFW,         /**< -G M ln(1 + r/a)/r, M = 4 pi rho_0 a^3, Navarro et al. 1996 */
  EXTERNAL_HERNQUIST,   /**< -G M/(r + a), Hernquist 1990 */
  EXTERNAL_BAR,         /**< softened needle, Long & Murali 1992 (ApJ 397, 44), eq. 8a */
  EXTERNAL_TABLE,       /**< spherical, from a table of radii */
  EXTERNAL_KINDS
};

/** One potential. */
struct external_term {
  enum external_kind kind;
  double gm;           /**< G times the mass, kpc (km/s)^2 */
  double speed2;       /**< v^2, (km/s)^2 */
  double a, b, c;      /**< lengths, kpc */
  double per_q2;       /**< 1/q^2 of the logarithmic potential */
  double pattern;      /**< angular speed of a bar about the z axis, km/s/kpc */
  double angle;        /**< of its long axis to the x axis at t = 0 */
  double cosine, sine; /**< of the angle at present */
};

enum { EXTERNAL_TERMS = 8 };

/** The table of EXTERNAL_TABLE: between nodes in equal steps of ln r the potential is a cubic polynomial
 * of ln r, whose derivative is the force, so that energy is conserved. Inside the first node the
 * density is constant; outside the last one there is no mass. */
struct external_table {
  uint32_t nodes; /**< 0: there is none */
  double ln_first, step;
};

/** All of them. */
struct external_field {
  uint32_t terms;
  struct external_term term[EXTERNAL_TERMS];
  struct external_table table;
};

/** A potential and its acceleration at a point. */
struct external_pull {
  double potential, acceleration[3];
};

/** Of a sphere. @param slope  dPhi/dr / r */
static HOST_DEVICE inline struct external_pull external_radial(const double x[3], double potential,
                                                               double slope) {
  const struct external_pull p = {potential, {-slope * x[0], -slope * x[1], -slope * x[2]}};
  return p;
}

static HOST_DEVICE inline struct external_pull external_point(const struct external_term *t,
                                                              const double x[3], double r2) {
  const double d2 = r2 + t->a * t->a, d = sqrt(d2);
  return external_radial(x, -t->gm / d, t->gm / (d2 * d));
}

static HOST_DEVICE inline struct external_pull external_logarithmic(const struct external_term *t,
                                                                    const double x[3]) {
  const double s2 = t->a * t->a + x[0] * x[0] + x[1] * x[1] + t->per_q2 * x[2] * x[2];
  struct external_pull p = external_radial(x, 0.5 * t->speed2 * log(s2), t->speed2 / s2);
  p.acceleration[2] *= t->per_q2;
  return p;
}

static HOST_DEVICE inline struct external_pull external_miyamoto(const struct external_term *t,
                                                                 const double x[3]) {
  const double height = sqrt(x[2] * x[2] + t->b * t->b), reach = t->a + height;
  const double d2 = x[0] * x[0] + x[1] * x[1] + reach * reach, d = sqrt(d2);
  struct external_pull p = external_radial(x, -t->gm / d, t->gm / (d2 * d));
  p.acceleration[2] *= reach / height;
  return p;
}

/** Near the centre ln(1 + y) - y/(1 + y) = y^2/2 - 2 y^3/3 + ...: rounding would exceed the series. */
static HOST_DEVICE inline struct external_pull external_nfw(const struct external_term *t,
                                                            const double x[3], double r2) {
  const double r = sqrt(r2), y = r / t->a, few = 1e-5;
  if (!(r > 0.0)) return external_radial(x, -t->gm / t->a, 0.0);
  const double mass = y < few ? y * y * (0.5 - 2.0 / 3.0 * y) : log1p(y) - y / (1.0 + y);
  return external_radial(x, -t->gm * log1p(y) / r, t->gm * mass / (r2 * r));
}

static HOST_DEVICE inline struct external_pull external_hernquist(const struct external_term *t,
                                                                  const double x[3], double r2) {
  const double r = sqrt(r2), d = r + t->a;
  return external_radial(x, -t->gm / d, r > 0.0 ? t->gm / (d * d * r) : 0.0);
}

/** In the frame of the needle, whose long axis is x: T = distances from its ends, softened. */
static HOST_DEVICE inline struct external_pull external_needle(const struct external_term *t,
                                                               const double x[3]) {
  const double height = sqrt(x[2] * x[2] + t->c * t->c), reach = t->b + height;
  const double side2 = x[1] * x[1] + reach * reach, lower = x[0] - t->a, upper = x[0] + t->a;
  const double below = sqrt(lower * lower + side2), above = sqrt(upper * upper + side2);
  const double sum = below + above, product = below * above;
  /* ln((x - a + T-)/(x + a + T+)) without the difference of near numbers. */
  const double potential = -t->gm / (2.0 * t->a) * log((sum + 2.0 * t->a) / (sum - 2.0 * t->a));
  const double across = t->gm / (2.0 * product) * (sum - 4.0 * x[0] * x[0] / sum) / side2;
  const struct external_pull p = {
      potential,
      {-2.0 * t->gm * x[0] / (product * sum), -across * x[1], -across * x[2] * reach / height}};
  return p;
}

static HOST_DEVICE inline struct external_pull external_bar(const struct external_term *t,
                                                            const double x[3]) {
  const double turned[3] = {t->cosine * x[0] + t->sine * x[1], t->cosine * x[1] - t->sine * x[0],
                            x[2]};
  struct external_pull p = external_needle(t, turned);
  const double along = p.acceleration[0], across = p.acceleration[1];
  p.acceleration[0] = t->cosine * along - t->sine * across;
  p.acceleration[1] = t->sine * along + t->cosine * across;
  return p;
}

/** @param values  [nodes] potentials, then [nodes] dPhi/dln r times the step */
static HOST_DEVICE inline struct external_pull external_from_table(const struct external_table *t,
                                                                   const double *values,
                                                                   const double x[3], double r2) {
  const double *slope = values + t->nodes;
  const uint32_t last = t->nodes - 1;
  const double place = r2 > 0.0 ? (0.5 * log(r2) - t->ln_first) / t->step : -1.0;
  if (place < 0.0) {
    const double first2 = exp(2.0 * t->ln_first), inside = slope[0] / t->step / first2;
    return external_radial(x, values[0] + 0.5 * inside * (r2 - first2), inside);
  }
  if (place >= (double)last) {
    const double r = sqrt(r2), gm = slope[last] / t->step * exp(t->ln_first + last * t->step);
    return external_radial(x, values[last] + slope[last] / t->step - gm / r, gm / (r2 * r));
  }
  const uint32_t i = (uint32_t)place;
  const double u = place - i, rise = values[i + 1] - values[i];
  const double second = 3.0 * rise - 2.0 * slope[i] - slope[i + 1],
               third = slope[i] + slope[i + 1] - 2.0 * rise;
  return external_radial(x, values[i] + u * (slope[i] + u * (second + u * third)),
                         (slope[i] + u * (2.0 * second + 3.0 * u * third)) / (t->step * r2));
}

static HOST_DEVICE inline struct external_pull external_of_term(const struct external_field *f,
                                                                const struct external_term *t,
                                                                const double *values,
                                                                const double x[3]) {
  const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  switch (t->kind) {
  case EXTERNAL_POINT: return external_point(t, x, r2);
  case EXTERNAL_LOGARITHMIC: return external_logarithmic(t, x);
  case EXTERNAL_MIYAMOTO: return external_miyamoto(t, x);
  case EXTERNAL_NFW: return external_nfw(t, x, r2);
  case EXTERNAL_HERNQUIST: return external_hernquist(t, x, r2);
  case EXTERNAL_BAR: return external_bar(t, x);
  default: return external_from_table(&f->table, values, x, r2);
  }
}

/** The sum of all potentials at a point. @param values  of the table; NULL: there is none */
static HOST_DEVICE inline struct external_pull
external_at(const struct external_field *f, const double *values, const double x[3]) {
  struct external_pull sum = {0.0, {0.0, 0.0, 0.0}};
  for (uint32_t i = 0; i < f->terms; i++) {
    const struct external_pull p = external_of_term(f, &f->term[i], values, x);
    sum.potential += p.potential;
    for (int c = 0; c < 3; c++) sum.acceleration[c] += p.acceleration[c];
  }
  return sum;
}

/** A kernel's positions and accelerations. Component c of an array stands at array + c * count. */
struct external_arrays {
  uint32_t count;
  const uint32_t *position;
  float *acceleration; /**< (km/s)^2/Mpc */
  double unit;         /**< of positions, kpc */
  bool adds;           /**< else the accelerations are written */
};

/** A position about the origin, kpc. @param unit  of positions, kpc */
static HOST_DEVICE inline void external_position(const uint32_t *position, uint32_t count,
                                                 uint32_t i, double unit, double x[3]) {
  const uint32_t middle = 1u << 31;
  for (size_t c = 0; c < 3; c++) x[c] = unit * (double)(int32_t)(position[c * count + i] - middle);
}

/** The acceleration of particle i. */
static HOST_DEVICE inline void external_pull_particle(const struct external_field *f,
                                                      const double *values,
                                                      const struct external_arrays *a, uint32_t i) {
  const double per_mpc = 1e3;
  double x[3];
  external_position(a->position, a->count, i, a->unit, x);
  const struct external_pull p = external_at(f, values, x);
  for (size_t c = 0; c < 3; c++) {
    float *to = &a->acceleration[c * a->count + i];
    *to = (a->adds ? *to : 0.0f) + (float)(per_mpc * p.acceleration[c]);
  }
}

#endif
