/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distribution functions of spheres by Eddington's inversion in the potential of all components. */
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "galaxy_profile.h"
#include "galaxy_tables.h"
#include "photons/base/error.h"

/** d2(density)/dPsi2, with dPsi/dr = -G M/r^2, from the slopes of density and mass. */
static double second_derivative(const struct galaxy_tables *t, size_t c, size_t k) {
  const struct galaxy_slopes s = galaxy_profile_at(&t->galaxy.component[c], t->r[k]);
  return t->shells[c]->density[k] * gsl_pow_2(t->r[k] / (GALAXY_GRAVITY * t->mass[k])) *
         (s.slope * s.slope + s.slope + s.curvature - s.slope * t->slope[k]);
}

/**
 * f(E) = 1/(sqrt(8) pi^2) int_0^E d2(density)/dPsi2 dPsi/sqrt(E - Psi): Binney & Tremaine 2008, eq.
 * 4.46b; the density vanishes with its slope where Psi is 0. With s^2 = E - Psi the integral is
 * that of 2 ds; `second` is linear in Psi between two radii.
 * @param size_of_terms  receives the same integral over the absolute values
 */
static double eddington(const struct galaxy_tables *t, const double *second, size_t j,
                        double *size_of_terms) {
  double sum = 0.0, absolute = 0.0, s0 = 0.0;
  for (size_t k = j; k + 1 < GALAXY_RADII; k++) {
    const double s1 = sqrt(t->depth[k + 1] - t->depth[j]);
    const double term = (s1 - s0) / (3.0 * (s0 + s1)) *
                        (second[k] * (2.0 * s1 + s0) + second[k + 1] * (s1 + 2.0 * s0));
    sum += term;
    absolute += fabs(term);
    s0 = s1;
  }
  const double factor = M_SQRT1_2 / (M_PI * M_PI); /* 2/sqrt(8) */
  *size_of_terms = factor * absolute;
  return factor * sum;
}

static bool refuse(const struct galaxy_tables *t, size_t c, size_t j, char *reason, size_t size) {
  snprintf(reason, size,
           "galaxy: component %s: its distribution function is %.3g, below 0, at the energy %.6g "
           "(km/s)^2, where a body at rest is at %.4g kpc: with these components there is no "
           "equilibrium; a wider cutoff or a steeper profile may help",
           t->galaxy.component[c].name, t->shells[c]->f[j], galaxy_potential(t, t->r[j]), t->r[j]);
  return false;
}

static bool invert_one(struct galaxy_tables *t, size_t c, char *reason, size_t size) {
  const double rounding = 1e-9;
  bool positive = true;
  double *second = allocate(GALAXY_RADII, sizeof *second, "Eddington's inversion");
  for (size_t k = 0; k < GALAXY_RADII; k++) second[k] = second_derivative(t, c, k);
  double *f = t->shells[c]->f;
  for (size_t j = 0; j + 1 < GALAXY_RADII && positive; j++) {
    double size_of_terms;
    f[j] = eddington(t, second, j, &size_of_terms);
    positive = f[j] >= -rounding * size_of_terms || refuse(t, c, j, reason, size);
    f[j] = fmax(f[j], 0.0);
  }
  free(second);
  return positive;
}

double galaxy_f(const struct galaxy_tables *t, size_t c, double depth) {
  if (depth >= t->depth[GALAXY_RADII - 1]) return 0.0;
  return galaxy_between(t->shells[c]->f, galaxy_find(t->depth, GALAXY_RADII, depth));
}

/* The largest q^2 f at one radius. A body with q = 1 just reaches the end of the galaxy. */
static double find_peak(const struct galaxy_tables *t, size_t c, size_t k) {
  enum { SPEEDS = 128 };
  const double climb = t->depth[GALAXY_RADII - 1] - t->depth[k];
  double largest = 0.0;
  for (size_t i = 1; i < SPEEDS; i++) {
    const double q2 = gsl_pow_2((double)i / SPEEDS);
    largest = fmax(largest, q2 * galaxy_f(t, c, t->depth[k] + q2 * climb));
  }
  return largest;
}

bool galaxy_invert(struct galaxy_tables *t, char *reason, size_t size) {
  for (size_t c = 0; c < t->galaxy.count; c++) {
    if (galaxy_is_disk(&t->galaxy.component[c])) continue;
    if (!invert_one(t, c, reason, size)) return false;
    for (size_t k = 0; k < GALAXY_RADII; k++) t->shells[c]->peak[k] = find_peak(t, c, k);
  }
  return true;
}

double galaxy_distribution(const struct galaxy_tables *t, size_t c, double energy) {
  return galaxy_f(t, c, energy - galaxy_potential(t, 0.0));
}
