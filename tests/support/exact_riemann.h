/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact solution of the Riemann problem of an ideal gas (Toro, Riemann Solvers, 3rd edition,
 * sections 4.2 to 4.5), without vacuum. */
#ifndef PHOTONS_TESTS_EXACT_RIEMANN_H
#define PHOTONS_TESTS_EXACT_RIEMANN_H

#include <math.h>

struct riemann_state {
  double density, velocity, pressure;
};

/* Change of velocity across the wave beside state s to pressure p. */
static inline double riemann_wave(double gamma, struct riemann_state s, double p) {
  if (p > s.pressure) {
    const double a = 2.0 / ((gamma + 1.0) * s.density),
                 b = (gamma - 1.0) / (gamma + 1.0) * s.pressure;
    return (p - s.pressure) * sqrt(a / (p + b));
  }
  const double sound = sqrt(gamma * s.pressure / s.density);
  return 2.0 * sound / (gamma - 1.0) * (pow(p / s.pressure, 0.5 * (gamma - 1.0) / gamma) - 1.0);
}

/* Pressure between the waves, by bisection: the change of velocity grows with the pressure. */
static inline double riemann_pressure(double gamma, struct riemann_state l,
                                      struct riemann_state r) {
  double low = 0.0, high = 1e3 * (l.pressure + r.pressure);
  for (int i = 0; i < 200; i++) {
    const double p = 0.5 * (low + high);
    if (riemann_wave(gamma, l, p) + riemann_wave(gamma, r, p) + r.velocity - l.velocity > 0.0)
      high = p;
    else
      low = p;
  }
  return 0.5 * (low + high);
}

/* The state at speed x/t left of the contact, whose pressure and velocity are p and v. */
static inline struct riemann_state riemann_left(double gamma, struct riemann_state s, double p,
                                                double v, double speed) {
  const double sound = sqrt(gamma * s.pressure / s.density), g = (gamma - 1.0) / (gamma + 1.0);
  const double ratio = p / s.pressure;
  if (p > s.pressure) {
    const double shock = s.velocity - sound * sqrt(0.5 * (gamma + 1.0) / gamma * ratio +
                                                   0.5 * (gamma - 1.0) / gamma);
    if (speed < shock) return s;
    return (struct riemann_state){s.density * (ratio + g) / (g * ratio + 1.0), v, p};
  }
  const double star_sound = sound * pow(ratio, 0.5 * (gamma - 1.0) / gamma);
  if (speed < s.velocity - sound) return s;
  if (speed > v - star_sound)
    return (struct riemann_state){s.density * pow(ratio, 1.0 / gamma), v, p};
  const double c = 2.0 / (gamma + 1.0) + g / sound * (s.velocity - speed);
  return (struct riemann_state){s.density * pow(c, 2.0 / (gamma - 1.0)),
                                2.0 / (gamma + 1.0) *
                                    (sound + 0.5 * (gamma - 1.0) * s.velocity + speed),
                                s.pressure * pow(c, 2.0 * gamma / (gamma - 1.0))};
}

/** The state at x/t = speed of the problem l | r. */
static inline struct riemann_state exact_riemann(double gamma, struct riemann_state l,
                                                 struct riemann_state r, double speed) {
  const double p = riemann_pressure(gamma, l, r);
  const double v = 0.5 * (l.velocity + r.velocity) +
                   0.5 * (riemann_wave(gamma, r, p) - riemann_wave(gamma, l, p));
  if (speed < v) return riemann_left(gamma, l, p, v, speed);
  const struct riemann_state mirrored = {r.density, -r.velocity, r.pressure};
  struct riemann_state s = riemann_left(gamma, mirrored, p, -v, -speed);
  s.velocity = -s.velocity;
  return s;
}

#endif
