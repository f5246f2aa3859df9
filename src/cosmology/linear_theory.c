/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/cosmology/linear_theory.h"

#include <math.h>
#include <string.h>

#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_statistics.h"
#include "photons/cosmology/mass_function.h"
#include "photons/cosmology/species.h"

#define FIRST_K 1e-4     /* h/Mpc: larger waves do not matter */
#define LAST_DAMPING 4.5 /* k smooth at the end of the integral, where P(k) is damped by 1e-9 */
#define LOG_STEP 0.01    /* steps are of this part of k, */
#define PHASE_STEP 0.2   /* and of this phase of the most remote pairs */

struct linear_theory linear_theory_at(double a, const struct linear_power *power,
                                      const struct cosmology *c, const struct species *species,
                                      double f_nl) {
  return (struct linear_theory){.a = a,
                                .power = power,
                                .cosmology = c,
                                .species = species,
                                .f_nl = f_nl,
                                .potential_unit = f_nl != 0.0 ? linear_potential_unit(c) : 0.0,
                                .growth = cosmology_growth(c, a)};
}

double linear_theory_growth(const struct linear_theory *t, double k) {
  return t->species ? species_growth(t->species, t->a, k) : t->growth.d1;
}

double linear_theory_rate(const struct linear_theory *t, double k) {
  return t->species ? species_rate(t->species, t->a, k) : t->growth.f1;
}

double linear_theory_power(const struct linear_theory *t, double k) {
  const double growth = linear_theory_growth(t, k);
  return t->power ? growth * growth * linear_power_at(t->power, k) : 0.0;
}

void linear_correlation(const struct linear_theory *linear, const double *r, size_t count,
                        double smooth, double *xi) {
  memset(xi, 0, count * sizeof *xi);
  const double step_most = count > 0 ? PHASE_STEP / r[count - 1] : 1.0;
  for (double low = FIRST_K; low * smooth < LAST_DAMPING;) {
    const double step = fmin(LOG_STEP * low, step_most), k = low + 0.5 * step;
    const double damping = exp(-pow(k * smooth, 2.0));
    const double weight = step * k * k * damping * linear_theory_power(linear, k) /
                          (2.0 * M_PI * M_PI);
    for (size_t i = 0; i < count; i++) xi[i] += weight * sin(k * r[i]) / (k * r[i]);
    low += step;
  }
}

double linear_potential_unit(const struct cosmology *c) {
  const double matter = c->omega_m + neutrinos_density(&c->neutrinos, 1.0);
  return 1.5 * matter * pow(HUBBLE_0 / SPEED_OF_LIGHT, 2.0) / cosmology_growth_since_matter(c);
}

/** delta over Phi; 0 where there is no spectrum. */
static double of_potential(const struct linear_theory *t, double k) {
  return k * k * linear_power_transfer(t->power, k) * linear_theory_growth(t, k) /
         t->potential_unit;
}

static double primordial_bispectrum(const struct linear_theory *t, const double k[3],
                                    const double power[3]) {
  double m[3], sum = 0.0;
  for (int i = 0; i < 3; i++) m[i] = of_potential(t, k[i]);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    if (m[i] > 0.0 && m[j] > 0.0) sum += power[i] * power[j] * m[l] / (m[i] * m[j]);
  }
  return 2.0 * t->f_nl * sum;
}

double linear_theory_bispectrum(const struct linear_theory *t, const double k[3]) {
  double power[3];
  for (int i = 0; i < 3; i++) power[i] = linear_theory_power(t, k[i]);
  const double tree = tree_bispectrum(k, power);
  return t->f_nl == 0.0 || !t->power ? tree : tree + primordial_bispectrum(t, k, power);
}

double linear_theory_bias(const struct linear_theory *t, double b, double k) {
  if (t->f_nl == 0.0 || !t->power) return b;
  const double m = of_potential(t, k);
  return m > 0.0 ? b + 2.0 * t->f_nl * (b - 1.0) * HALO_COLLAPSE / m : b;
}
