/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halo mass functions; their sources are in the header. */
#include "photons/cosmology/mass_function.h"

#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_sigma.h"

/* Fits of f(sigma) = M/rho dn/dln(1/sigma). */

static double press_schechter(double sigma) {
  const double nu = HALO_COLLAPSE / sigma;
  return sqrt(2.0 / M_PI) * nu * exp(-0.5 * nu * nu);
}

static double sheth_tormen(double sigma) {
  const double norm = 0.3222, stretch = 0.707, p = 0.3,
               nu2 = stretch * HALO_COLLAPSE * HALO_COLLAPSE / (sigma * sigma);
  return norm * sqrt(2.0 * nu2 / M_PI) * (1.0 + pow(nu2, -p)) * exp(-0.5 * nu2);
}

/** Reed et al. 2007, equation 11. @param slope  dln(1/sigma)/dlnM */
static double reed_2007(double sigma, double slope) {
  const double norm = 0.3222, c = 1.08, stretch = 0.764 / c, p = 0.3, nu = HALO_COLLAPSE / sigma,
               nu2 = stretch * nu * nu;
  const double ln_inverse = -log(sigma), n_eff = 6.0 * slope - 3.0;
  const double g1 = exp(-pow(ln_inverse - 0.4, 2.0) / (2.0 * 0.6 * 0.6)),
               g2 = exp(-pow(ln_inverse - 0.75, 2.0) / (2.0 * 0.2 * 0.2));
  return norm * sqrt(2.0 * stretch / M_PI) * (1.0 + pow(nu2, -p) + 0.6 * g1 + 0.4 * g2) * nu *
         exp(-0.5 * c * nu2 - 0.03 / pow(n_eff + 3.0, 2.0) * pow(nu, 0.6));
}

/** Tinker et al. 2008: table 2 at z = 0, interpolated by natural cubic splines in log10 Delta
 * (appendix B), and equations 5 to 8 for z > 0. */
static double tinker_2008(double sigma, double a, double delta) {
  enum { ROWS = 9 };
  static const double density[ROWS] = {200, 300, 400, 600, 800, 1200, 1600, 2400, 3200};
  static const double table[4][ROWS] = {
      {0.186, 0.200, 0.212, 0.218, 0.248, 0.255, 0.260, 0.260, 0.260},
      {1.47, 1.52, 1.56, 1.61, 1.87, 2.13, 2.30, 2.53, 2.66},
      {2.57, 2.25, 2.05, 1.87, 1.59, 1.51, 1.46, 1.44, 1.41},
      {1.19, 1.27, 1.34, 1.45, 1.58, 1.80, 1.97, 2.24, 2.44},
  };
  double log_density[ROWS], value[4];
  for (int i = 0; i < ROWS; i++) log_density[i] = log10(density[i]);
  const double at = fmin(fmax(log10(delta), log_density[0]), log_density[ROWS - 1]);
  for (int k = 0; k < 4; k++) {
    gsl_spline *spline = gsl_spline_alloc(gsl_interp_cspline, ROWS);
    if (!spline || gsl_spline_init(spline, log_density, table[k], ROWS) != 0)
      fail(EXIT_RUN_FAILED, "not enough memory for a mass function");
    value[k] = gsl_spline_eval(spline, at, NULL);
    gsl_spline_free(spline);
  }
  const double alpha = pow(10.0, -pow(0.75 / log10(delta / 75.0), 1.2));
  const double norm = value[0] * pow(a, 0.14), exponent = value[1] * pow(a, 0.06),
               scale = value[2] * pow(a, alpha);
  return norm * (pow(sigma / scale, -exponent) + 1.0) * exp(-value[3] / (sigma * sigma));
}

/** Variance on the scale of a mass. */
struct scale {
  double mass, sigma, slope; /* slope: dln(1/sigma)/dlnM */
};

struct halo_theory {
  const struct cosmology *cosmology;
  double a;
  struct linear_sigma *sigma;
};

/** Of the sphere that has a mass of particles: neutrinos with mass are not among them. */
static double radius_of(const struct cosmology *c, double mass) {
  return cbrt(3.0 * mass / (4.0 * M_PI * c->omega_m * RHO_CRITICAL));
}

struct halo_theory *halo_theory_create(const struct linear_theory *linear, double low,
                                       double high) {
  const struct cosmology *c = linear->cosmology;
  struct halo_theory *t = allocate(1, sizeof *t, "the theory of halos");
  *t = (struct halo_theory){.cosmology = c, .a = linear->a};
  t->sigma = linear_sigma_create(linear, radius_of(c, low), radius_of(c, high));
  return t;
}

void halo_theory_free(struct halo_theory *t) {
  linear_sigma_free(t->sigma);
  free(t);
}

static struct scale scale_of(const struct halo_theory *t, double mass) {
  const double radius = radius_of(t->cosmology, mass);
  return (struct scale){.mass = mass,
                        .sigma = linear_sigma_at(t->sigma, radius),
                        .slope = linear_sigma_slope(t->sigma, radius) / 3.0};
}

static double theory(enum mass_function kind, const struct cosmology *c, double a,
                     const struct scale *s) {
  if (!(s->sigma > 0.0)) return 0.0;
  const double f = kind == PRESS_SCHECHTER ? press_schechter(s->sigma)
                   : kind == SHETH_TORMEN  ? sheth_tormen(s->sigma)
                   : kind == REED_2007     ? reed_2007(s->sigma, s->slope)
                   : kind == TINKER_2008_200M
                       ? tinker_2008(s->sigma, a, 200.0)
                       : tinker_2008(s->sigma, a, 200.0 / cosmology_omega_m(c, a));
  return f * c->omega_m * RHO_CRITICAL / s->mass * s->slope;
}

void halo_theory_mass_functions(const struct halo_theory *t, double mass,
                                double result[MASS_FUNCTIONS]) {
  const struct scale scale = scale_of(t, mass);
  for (enum mass_function k = 0; k < MASS_FUNCTIONS; k++)
    result[k] = theory(k, t->cosmology, t->a, &scale);
}

double halo_bias_of_peak(double height) {
  const double y = log10(200.0), knee = exp(-pow(4.0 / y, 4.0)), slope = 0.44 * y - 0.88;
  const double power = pow(height, slope);
  return 1.0 - (1.0 + 0.24 * y * knee) * power / (power + pow(HALO_COLLAPSE, slope)) +
         0.183 * pow(height, 1.5) + (0.019 + 0.107 * y + 0.19 * knee) * pow(height, 2.4);
}

double halo_theory_bias(const struct halo_theory *t, double mass) {
  const struct scale scale = scale_of(t, mass);
  return scale.sigma > 0.0 ? halo_bias_of_peak(HALO_COLLAPSE / scale.sigma) : 0.0;
}
