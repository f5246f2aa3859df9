/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mass functions and HALOFIT against other implementations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gsl/gsl_math.h>

#include "photons/analysis/halo.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/halofit.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/mass_function.h"
#include "support/assert_near.h"
#include "support/halofit_reference.h"

/* Colossus 1.4.0 (Diemer 2018): flat, H0 70, Omega_m 0.3, Omega_b 0.05, n_s 0.96, sigma8 0.8,
 * Eisenstein & Hu 1998 with T_CMB 2.7255, no radiation; f(sigma) of its models with delta_c = 1.686
 * constant, times rho/M dln(1/sigma)/dlnM. */
enum { MASSES = 5 };
static const double mass[MASSES] = {1e11, 1e12, 1e13, 1e14, 1e15}; /* Msun/h */
static const double sigma_of_mass[MASSES] = {2.790429, 2.049559, 1.418933, 0.9091884, 0.5236254};
static const double reference[2][MASS_FUNCTIONS][MASSES] = {
    {
        {4.12430e-02, 5.67534e-03, 6.81807e-04, 4.71932e-05, 3.20261e-07},
        {2.94811e-02, 3.81570e-03, 4.54451e-04, 3.73763e-05, 6.14715e-07},
        {2.84212e-02, 3.78523e-03, 4.81816e-04, 4.29039e-05, 7.06825e-07},
        {3.09113e-02, 4.06894e-03, 5.09400e-04, 4.40315e-05, 6.14292e-07},
        {2.83049e-02, 3.45819e-03, 3.89895e-04, 2.74514e-05, 1.95964e-07},
    },
    {
        {4.96762e-02, 5.26765e-03, 3.42216e-04, 4.34909e-06, 8.98981e-11},
        {3.28817e-02, 3.58790e-03, 2.81212e-04, 7.11316e-06, 1.99003e-09},
        {3.28418e-02, 3.83882e-03, 3.19110e-04, 8.17231e-06, 1.08810e-09},
        {3.18177e-02, 3.57488e-03, 2.82557e-04, 6.14543e-06, 6.81176e-10},
        {3.03639e-02, 3.34816e-03, 2.55824e-04, 5.11009e-06, 4.22788e-10},
    },
};

static struct linear_power *make_linear(void) {
  struct parameters p = {.cosmology = {.omega_m = 0.3,
                                       .omega_lambda = 0.7,
                                       .omega_b = 0.05,
                                       .h = 0.7,
                                       .n_s = 0.96,
                                       .sigma8 = 0.8,
                                       .w0 = -1.0},
                         .ic = {.power_spectrum = POWER_EH98, .normalise = true}};
  return linear_power_create(&p);
}

static const struct cosmology flat = {.omega_m = 0.3, .omega_lambda = 0.7, .w0 = -1.0};

static double mass_function(enum mass_function kind, const struct halo_theory *theory, double m) {
  double all[MASS_FUNCTIONS];
  halo_theory_mass_functions(theory, m, all);
  return all[kind];
}

/* 1e-3: Colossus interpolates tables of sigma(R). */
static void test_sigma(void **state) {
  (void)state;
  struct linear_power *linear = make_linear();
  for (int i = 0; i < MASSES; i++) {
    const double radius = cbrt(3e-10 * mass[i] / (4.0 * M_PI * 0.3 * RHO_CRITICAL));
    assert_near(linear_power_sigma(linear, radius) / sigma_of_mass[i], 1.0, 1e-3);
  }
  linear_power_free(linear);
}

/* 1e-3 of sigma is 1e-3 (delta_c/sigma)^2 of an exponential: 3 % for the rarest halos,
 * (delta_c/sigma)^2 = 28. Spheres of 200 times the critical density: Colossus interpolates Tinker's
 * table linearly; Tinker's appendix B and this program use splines. */
static void test_mass_functions(void **state) {
  (void)state;
  struct linear_power *linear = make_linear();
  for (int z = 0; z <= 1; z++) {
    const struct linear_theory at = linear_theory_at(1.0 / (1.0 + z), linear, &flat, NULL, 0.0);
    struct halo_theory *theory = halo_theory_create(&at, 1e-10 * mass[0], 1e-10 * mass[MASSES - 1]);
    for (enum mass_function k = 0; k < MASS_FUNCTIONS; k++)
      for (int i = 0; i < MASSES; i++) {
        const double found = mass_function(k, theory, 1e-10 * mass[i]);
        /* D(z = 1) = 1/1.6345 */
        const double peak = gsl_pow_2(1.686 / sigma_of_mass[i] * (z ? 1.6345 : 1.0));
        assert_near(found / reference[z][k][i], 1.0,
                    1e-3 * fmax(peak, 3.0) + (k == TINKER_2008_200C ? 0.04 : 0.0));
      }
    halo_theory_free(theory);
  }
  linear_power_free(linear);
}

/* All mass is in halos according to Press & Schechter: the integral of M dn/dlnM over lnM is the
 * mean density; what lies outside 10^-8 .. 10^17 Msun/h is erf(delta_c/(sqrt(2) sigma(10^-8))) = 4
 * % of it. */
static void test_all_mass(void **state) {
  (void)state;
  struct linear_power *linear = make_linear();
  const double step = 0.25 * M_LN10, lowest = 1e-18;
  double sum = 0.0;
  const struct linear_theory now = linear_theory_at(1.0, linear, &flat, NULL, 0.0);
  struct halo_theory *theory = halo_theory_create(&now, lowest, lowest * exp(100.0 * step));
  for (int i = 0; i <= 100; i++) {
    const double m = lowest * exp(step * i);
    sum += step * m * mass_function(PRESS_SCHECHTER, theory, m);
  }
  halo_theory_free(theory);
  const double sigma = linear_power_sigma(linear,
                                          cbrt(3.0 * lowest / (4.0 * M_PI * 0.3 * RHO_CRITICAL)));
  /* of the sum's steps */
  assert_near(sum / (0.3 * RHO_CRITICAL), erfc(1.686470 / (M_SQRT2 * sigma)), 5e-3);
  linear_power_free(linear);
}

/* All matter together has no bias: the mean of b over the mass function of Tinker et al. 2010, equation 8 and
 * table 4 at z = 0, whose parameters have three digits. */
static void test_bias(void **state) {
  (void)state;
  double matter = 0.0, biased = 0.0;
  const double step = 1e-3;
  for (double ln_nu = -25.0; ln_nu < 3.0; ln_nu += step) {
    const double nu = exp(ln_nu);
    const double f = 0.368 * (1.0 + pow(0.589 * nu, 2.0 * 0.729)) * pow(nu, -2.0 * 0.243) *
                     exp(-0.864 * nu * nu / 2.0);
    matter += step * nu * f;
    biased += step * nu * f * halo_bias_of_peak(nu);
  }
  assert_near(matter, 1.0, 2e-3);
  assert_near(biased, 1.0, 2e-3);
}

/* Halos of known masses are counted in the right bins with their Poisson errors, and the theory
 * columns are filled. */
static void test_file(void **state) {
  (void)state;
  const char *path = "test_mass_function_output.txt";
  struct linear_power *linear = make_linear();
  struct halo halos[30] = {{0}};
  size_t members = 0;
  for (size_t h = 0; h < 30; h++) {
    halos[h].count = h < 10 ? 1000 : h < 14 ? 50 : 20;
    halos[h].sphere[CRIT_200].count = halos[h].count / 2;
    members += halos[h].count;
  }
  const struct particles s = {
      .all = 1000000, .all_blocks = 1, .count = 1000000, .blocks = 1, .box = 100.0, .mass = 5.0};
  const struct halo_catalogue c = {.particles = &s,
                                   .all = 30,
                                   .all_members = members,
                                   .count = 30,
                                   .members = members,
                                   .halo = halos};
  const struct linear_theory now = linear_theory_at(1.0, linear, &flat, NULL, 0.0);
  mass_function_write(path, &c, 20, &now, NULL);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char line[512];
  double total = 0.0, total_200 = 0.0, before = 0.0;
  struct halo_theory *theory = halo_theory_create(&now, 50.0, 1e4);
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    double v[13];
    char *end = line;
    for (int i = 0; i < 13; i++) v[i] = strtod(end, &end);
    assert_true(v[0] < v[1]);
    if (before > 0.0) assert_near(v[0] / before, 1.0, 1e-6); /* printed digits */
    before = v[1];
    total += v[2];
    total_200 += v[5];
    assert_near(v[3] * 1e6 * log(v[1] / v[0]), v[2], 1e-4 * v[2] + 1e-9);
    assert_near(v[4] * 1e6 * log(v[1] / v[0]), sqrt(v[2]), 1e-4 * v[2] + 1e-9);
    if (v[2] > 0.0) {
      const double n = v[2] == 10.0 ? 1000.0 : v[2] == 4.0 ? 50.0 : 20.0;
      assert_true(v[0] < n * 5e10 && n * 5e10 < v[1]);
    }
    for (int k = 0; k < MASS_FUNCTIONS;
         k++) /* the average over a bin differs from its middle by the curvature, a few per cent */
      assert_near(v[8 + k] /
                      mass_function((enum mass_function)k, theory, 1e-10 * sqrt(v[0] * v[1])),
                  1.0, 0.05);
  }
  halo_theory_free(theory);
  assert_near(total, 30.0, 0.0);
  assert_near(total_200, 14.0, 0.0); /* 500 and 25 are counted, 10 is below the first bin */
  fclose(file);
  unlink(path);
  linear_power_free(linear);
}

/* The input is CAMB's own linear spectrum, so that only the fit is compared: 1e-3 at z = 0 from
 * CAMB's integration; 3e-3 at z = 1, because CAMB's growth includes radiation and this one does
 * not. */
static void test_halofit(void **state) {
  (void)state;
  char path[] = "/tmp/photons-test-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "w");
  assert_non_null(file);
  for (size_t i = 0; i < sizeof camb_linear / sizeof *camb_linear; i++)
    fprintf(file, "%.7e %.7e\n", camb_linear[i][0], camb_linear[i][1]);
  fclose(file);
  struct parameters p = {.cosmology.sigma8 = 0.79,
                         .ic = {.power_spectrum = POWER_FILE, .normalise = false}};
  snprintf(p.ic.power_spectrum_file, sizeof p.ic.power_spectrum_file, "%s", path);
  struct linear_power *linear = linear_power_create(&p);
  unlink(path);
  const struct cosmology c = {.omega_m = 0.31, .omega_lambda = 0.69, .w0 = -1.0};
  for (size_t i = 0; i < sizeof camb_halofit / sizeof *camb_halofit; i++) {
    const struct linear_theory t = linear_theory_at(1.0 / (1.0 + camb_halofit[i].z), linear, &c,
                                                    NULL, 0.0);
    const struct halofit h = halofit_create(&t);
    assert_near(halofit_power(&h, camb_halofit[i].k) / camb_halofit[i].power, 1.0,
                camb_halofit[i].z > 0.0 ? 3e-3 : 1e-3);
    assert_near(linear_theory_power(&t, camb_halofit[i].k) / camb_halofit[i].linear, 1.0, 2e-3);
  }
  /* At early times no scale is nonlinear: the fit is the linear spectrum. */
  const struct linear_theory t = linear_theory_at(0.005, linear, &c, NULL, 0.0);
  const struct halofit early = halofit_create(&t);
  assert_near(halofit_power(&early, 0.5) / linear_theory_power(&t, 0.5), 1.0, 1e-12);
  linear_power_free(linear);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sigma),    cmocka_unit_test(test_mass_functions),
      cmocka_unit_test(test_all_mass), cmocka_unit_test(test_bias),
      cmocka_unit_test(test_file),     cmocka_unit_test(test_halofit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
