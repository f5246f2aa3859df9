/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/analysis/energy.h"

#include <gsl/gsl_integration.h>
#include <math.h>

#include "photons/analysis/analysis.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/potential.h"

/** int psi d^3x over the sphere of radius r_cut, lengths in units of r_cut. */
static double mean_pair_potential(const struct split *s) {
  enum { POINTS = 64 };
  gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(POINTS);
  if (!rule) fail(EXIT_RUN_FAILED, "not enough memory for the potential energy");
  double sum = 0.0;
  for (size_t i = 0; i < POINTS; i++) {
    double x, weight;
    gsl_integration_glfixed_point(0.0, 1.0, i, &x, &weight, rule);
    sum += weight * x * (1.0 - x * split_series_derivative(s, 0, x * x));
  }
  gsl_integration_glfixed_table_free(rule);
  return 4.0 * M_PI * sum;
}

/** The long-range potential of a mode over its density, 4 pi S(k)/k^2. */
static double long_range_weight(const void *split, double k) {
  return 4.0 * M_PI * split_mesh_factor(split, k) / (k * k);
}

double potential_energy(struct nbody *n, double a) {
  const struct split *split = &n->short_range.split;
  const struct particles *s = &n->domain.particles;
  const double count = (double)s->all, volume = s->box * s->box * s->box, cut = split->r_cut;
  const double pairs = step_pair_potential(n) / cut -
                       count * count / volume * cut * cut * mean_pair_potential(split);
  domain_acquire_positions(&n->domain);
  const double modes = power_sum(s, n->long_range.mesh->cells, long_range_weight, split);
  domain_release_positions(&n->domain);
  /* The modes contain the potential of each particle's own smoothed cloud. */
  const double self = count * split_series_derivative(split, 0, 0.0) / cut;
  return -0.5 * GRAVITY * s->mass * s->mass / a * (pairs + count * count / volume * modes - self);
}

void layzer_irvine_advance(struct layzer_irvine *l, double a, double kinetic) {
  if (l->a > 0.0 && a > l->a && kinetic > 0.0 && l->kinetic > 0.0) {
    const double step = log(a / l->a), power = 1.0 + log(kinetic / l->kinetic) / step;
    /* (a T - a' T')/power, also where the power is zero */
    l->work += l->a * l->kinetic * (power == 0.0 ? step : expm1(power * step) / power);
  }
  l->a = a;
  l->kinetic = kinetic;
}

double layzer_irvine_integral(const struct layzer_irvine *l, double potential) {
  return l->a * (l->kinetic + potential) + l->work;
}
