/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/mesh_alone.h"

#include <math.h>

#include "photons/cosmology/linear_statistics.h"

/* The waves of a lattice of spacing d have fallen by exp(-(2 pi sigma/d)^2/2) where particles are displaced by sigma
 * along an axis. This square is where a higher cut changes P(k) by less than 0.5 % up to half the particles' Nyquist frequency
 * (docs/dev/architecture.md). */
#define DISSOLVED 8.0
#define LATE_CUT 0.8

double mesh_alone_cut(const struct parameters *p, const struct linear_power *linear,
                      const struct cosmology *c, size_t particles, double a) {
  if (p->time.step != STEP_PM || p->gravity.pm_cut > 0.0 || !linear) return p->gravity.pm_cut;
  const double spacing = p->box.size / cbrt((double)particles),
               today = linear_displacement(linear, 2.0 * M_PI / p->box.size, M_PI / spacing),
               sigma = cosmology_growth(c, a).d1 * today / sqrt(3.0);
  return pow(2.0 * M_PI * sigma / spacing, 2.0) > DISSOLVED ? LATE_CUT : 0.0;
}
