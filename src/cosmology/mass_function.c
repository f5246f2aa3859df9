/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halo mass functions. */
#include "photons/cosmology/mass_function.h"

#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/cosmology/linear_power.h"
#include "photons/base/output_file.h"

#define COLLAPSE 1.686470199841 /* linear density contrast at collapse, Einstein-de Sitter: (3/20) (12 pi)^(2/3) */
#define BIN_DEX 0.15            /* width of a bin in log10 M */

/* f(sigma) = M/rho dn/dln(1/sigma). */

static double press_schechter(double sigma) {
  const double nu = COLLAPSE / sigma;
  return sqrt(2.0 / M_PI) * nu * exp(-0.5 * nu * nu);
}

static double sheth_tormen(double sigma) {
  const double norm = 0.3222, stretch = 0.707, p = 0.3, nu2 = stretch * COLLAPSE * COLLAPSE / (sigma * sigma);
  return norm * sqrt(2.0 * nu2 / M_PI) * (1.0 + pow(nu2, -p)) * exp(-0.5 * nu2);
}

/** Their equation 11. @param slope dln(1/sigma)/dlnM */
static double reed_2007(double sigma, double slope) {
  const double norm = 0.3222, c = 1.08, stretch = 0.764 / c, p = 0.3, nu = COLLAPSE / sigma, nu2 = stretch * nu * nu;
  const double ln_inverse = -log(sigma), n_eff = 6.0 * slope - 3.0;
  const double g1 = exp(-pow(ln_inverse - 0.4, 2.0) / (2.0 * 0.6 * 0.6)),
               g2 = exp(-pow(ln_inverse - 0.75, 2.0) / (2.0 * 0.2 * 0.2));
  return norm * sqrt(2.0 * stretch / M_PI) * (1.0 + pow(nu2, -p) + 0.6 * g1 + 0.4 * g2) * nu *
         exp(-0.5 * c * nu2 - 0.03 / pow(n_eff + 3.0, 2.0) * pow(nu, 0.6));
}

/** Their table 2 at z = 0, interpolated by natural cubic splines in log10 Delta as in their appendix B, and equations 5 to 8 for z. */
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
  const double norm = value[0] * pow(a, 0.14), exponent = value[1] * pow(a, 0.06), scale = value[2] * pow(a, alpha);
  return norm * (pow(sigma / scale, -exponent) + 1.0) * exp(-value[3] / (sigma * sigma));
}

static double omega_m_at(const struct cosmology *c, double a) {
  const double hubble = cosmology_hubble(c, a) / HUBBLE_0;
  return c->omega_m / (a * a * a * hubble * hubble);
}

/** Variance on the scale of a mass. */
struct scale {
  double mass, sigma, slope; /* slope: dln(1/sigma)/dlnM */
};

static struct scale scale_of(const struct linear_power *linear, const struct cosmology *c, double growth, double mass) {
  const double radius = cbrt(3.0 * mass / (4.0 * M_PI * c->omega_m * RHO_CRITICAL)), step = 0.02;
  return (struct scale){
      .mass = mass,
      .sigma = growth * linear_power_sigma(linear, radius),
      .slope = log(linear_power_sigma(linear, radius * exp(-step)) / linear_power_sigma(linear, radius * exp(step))) /
               (6.0 * step)};
}

static double theory(enum mass_function kind, const struct cosmology *c, double a, const struct scale *s) {
  if (!(s->sigma > 0.0)) return 0.0;
  const double f = kind == PRESS_SCHECHTER    ? press_schechter(s->sigma)
                   : kind == SHETH_TORMEN     ? sheth_tormen(s->sigma)
                   : kind == REED_2007        ? reed_2007(s->sigma, s->slope)
                   : kind == TINKER_2008_200M ? tinker_2008(s->sigma, a, 200.0)
                                              : tinker_2008(s->sigma, a, 200.0 / omega_m_at(c, a));
  return f * c->omega_m * RHO_CRITICAL / s->mass * s->slope;
}

double mass_function(enum mass_function kind, const struct linear_power *linear, const struct cosmology *c, double a,
                     double mass) {
  const struct scale scale = scale_of(linear, c, cosmology_growth(c, a).d1, mass);
  return theory(kind, c, a, &scale);
}

/** A bin of masses in numbers of particles, and the halos in it by their members and inside r_200. */
struct mass_bin {
  double low, high;
  uint64_t count[2];
};

/** The bins from the smallest halo to the largest of the run; all processes call this. */
static struct mass_bin *count_halos(const struct halo_catalogue *halos, size_t min_members, size_t *bins) {
  double largest = 0.0; /* exact: counts are below 2^53 */
  for (size_t h = 0; h < halos->count; h++)
    largest = fmax(largest, fmax((double)halos->halo[h].count, (double)halos->halo[h].count_200));
  comm_max_double(&largest, 1);
  /* Masses are whole numbers of particles: edges stand between them. */
  struct mass_bin *bin = NULL;
  double low = (double)min_members - 0.5;
  for (*bins = 0; low < largest; low = bin[(*bins)++].high) {
    bin = reallocate(bin, *bins + 1, sizeof *bin, "bins of mass");
    const double edge = floor((double)min_members * pow(10.0, BIN_DEX * (double)(*bins + 1))) - 0.5;
    bin[*bins] = (struct mass_bin){.low = low, .high = fmax(edge, low + 1.0)};
  }
  for (size_t i = 0; i < *bins; i++) {
    for (size_t h = 0; h < halos->count; h++) {
      const double n = (double)halos->halo[h].count, inside = (double)halos->halo[h].count_200;
      bin[i].count[0] += n > bin[i].low && n < bin[i].high;
      bin[i].count[1] += inside > bin[i].low && inside < bin[i].high;
    }
    comm_sum_u64(bin[i].count, 2);
  }
  return bin;
}

static void write_bins(const char *path, const struct halo_catalogue *halos, const struct mass_bin *bin, size_t bins,
                       const struct linear_power *linear, const struct cosmology *c, double a) {
  const struct particles *s = halos->particles;
  const double volume = s->box * s->box * s->box, growth = cosmology_growth(c, a).d1;
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  fprintf(file, "# halo mass function, dn/dlnM in (Mpc/h)^-3; errors are Poisson, theory is averaged over the bin\n");
  fprintf(file, "# FoF: masses of friends-of-friends groups; 200c: within R200 of their density peaks\n");
  fprintf(file, "# a = %.9g, z = %.9g, box = %.9g Mpc/h, N = %zu, particle mass = %.9g Msun/h, halos = %zu\n", a,
          1.0 / a - 1.0, s->box, s->all, 1e10 * s->mass, halos->all);
  fprintf(
      file,
      "# M_low[Msun/h] M_high[Msun/h] N_FoF FoF FoF_error N_200c 200c 200c_error PressSchechter ShethTormen Reed2007 "
      "Tinker2008_200m Tinker2008_200c\n");
  struct scale scale[3] = {{0}}; /* of a bin's low edge, middle and high edge */
  for (size_t i = 0; i < bins; i++) {
    const double low = bin[i].low, high = bin[i].high, norm = 1.0 / (volume * log(high / low));
    const double fof = (double)bin[i].count[0], sphere = (double)bin[i].count[1];
    fprintf(file, "%.7e %.7e %.0f %.6e %.6e %.0f %.6e %.6e", 1e10 * low * s->mass, 1e10 * high * s->mass, fof,
            fof * norm, sqrt(fof) * norm, sphere, sphere * norm, sqrt(sphere) * norm);
    if (linear) {
      scale[0] = i == 0 ? scale_of(linear, c, growth, low * s->mass) : scale[2];
      scale[1] = scale_of(linear, c, growth, sqrt(low * high) * s->mass);
      scale[2] = scale_of(linear, c, growth, high * s->mass);
    }
    for (enum mass_function k = 0; k < MASS_FUNCTIONS; k++) { /* Simpson's rule over ln M */
      const double sum = linear ? theory(k, c, a, &scale[0]) + 4.0 * theory(k, c, a, &scale[1]) +
                                      theory(k, c, a, &scale[2])
                                : 0.0;
      fprintf(file, " %.6e", sum / 6.0);
    }
    fprintf(file, "\n");
  }
  output_close(file, path);
  output_commit(temporary, path);
}

void mass_function_write(const char *path, const struct halo_catalogue *halos, size_t min_members,
                         const struct linear_power *linear, const struct cosmology *c, double a) {
  size_t bins;
  struct mass_bin *bin = count_halos(halos, min_members, &bins);
  if (comm_rank() == 0) write_bins(path, halos, bin, bins, linear, c, a);
  free(bin);
}
