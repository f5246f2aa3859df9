/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear spectrum against another implementation and closed forms, and errors in tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_sigma.h"
#include "photons/cosmology/species.h"

#include <cmocka.h>

#include "support/assert_near.h"
#include "support/failure.h"

static void assert_relative(double value, double expected, double tolerance) {
  assert_near(value / expected, 1.0, tolerance);
}

/* Transfer functions of Colossus 1.4.0 (Diemer 2018), modelEisenstein98() with T_CMB = 2.7255 K. */
static const double wavenumber[] = {1e-3, 1e-2, 0.05, 0.1, 0.2, 1.0, 10.0};
enum { WAVENUMBERS = sizeof wavenumber / sizeof *wavenumber };
static const struct {
  double omega_m, omega_b, h, transfer[WAVENUMBERS];
} colossus[] = {
    {0.3,
     0.05,
     0.7,
     {0.9922532209, 0.7798740158, 0.2676976565, 0.1286076219, 0.05410428895, 0.004587867257,
      8.776769571e-05}},
    {0.3144,
     0.0494,
     0.6732,
     {0.9923665144, 0.7821156025, 0.2736991328, 0.1329611388, 0.0558637629, 0.004767911686,
      9.151101241e-05}},
    {1.0,
     0.1,
     0.5,
     {0.9984566705, 0.9218148901, 0.5559526419, 0.3405418485, 0.1763255533, 0.02049685561,
      0.0004679357127}},
};

static struct parameters *eisenstein_hu(double omega_m, double omega_b, double h, double n_s) {
  static struct parameters p;
  p = (struct parameters){
      .cosmology = {.omega_m = omega_m, .omega_b = omega_b, .h = h, .n_s = n_s, .sigma8 = 0.8},
      .ic = {.power_spectrum = POWER_EH98, .normalise = true}};
  return &p;
}

static void test_eisenstein_hu(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof colossus / sizeof *colossus; i++) {
    struct linear_power *power = linear_power_create(
        eisenstein_hu(colossus[i].omega_m, colossus[i].omega_b, colossus[i].h, 0.96));
    const double unit = linear_power_at(power, 1e-3) /
                        (pow(1e-3, 0.96) * pow(colossus[i].transfer[0], 2.0));
    for (int k = 1; k < WAVENUMBERS; k++) /* Ten digits are given. */
      assert_relative(linear_power_at(power, wavenumber[k]),
                      unit * pow(wavenumber[k], 0.96) * pow(colossus[i].transfer[k], 2.0), 1e-8);
    for (int k = 0; k < WAVENUMBERS; k++)
      assert_relative(linear_power_transfer(power, wavenumber[k]), colossus[i].transfer[k], 1e-8);
    /* the integral's tolerance is 1e-8 */
    assert_relative(linear_power_sigma(power, 8.0), 0.8, 1e-7);
    linear_power_free(power);
  }
}

/* sigma^2 = int dk k^2 P W^2/(2 pi^2), by the trapezium rule in k. */
static void test_variance_by_another_rule(void **state) {
  (void)state;
  struct linear_power *power = linear_power_create(eisenstein_hu(0.3, 0.05, 0.7, 0.96));
  const double r = 20.0, step = 1e-4;
  double sum = 0.0;
  for (int i = 1; i < 100000; i++) {
    double k = i * step, x = k * r, window = 3.0 * (sin(x) / x - cos(x)) / (x * x);
    sum += step * k * k * linear_power_at(power, k) * window * window;
  }
  /* k^2 P ~ k^3 at k = 0 and beyond k = 10: an error of some step^2, and a tail of (k r)^-3 or
   * so. */
  assert_relative(linear_power_sigma(power, r), sqrt(sum / (2.0 * M_PI * M_PI)), 1e-6);
  linear_power_free(power);
}

/* A power law has the shape k^n, and sigma falls as r^-(n+3)/2; for n = -2 sigma^2 = 3/(10 pi r). */
static void test_power_law(void **state) {
  (void)state;
  const double index[] = {-2.25, -2.0, -1.5, 0.5};
  for (size_t i = 0; i < sizeof index / sizeof *index; i++) {
    struct parameters p = *eisenstein_hu(1.0, 0.0, 0.7, index[i]);
    p.ic.power_spectrum = POWER_LAW;
    struct linear_power *power = linear_power_create(&p);
    assert_relative(linear_power_at(power, 3.0) / linear_power_at(power, 0.3), pow(10.0, index[i]),
                    1e-12);
    assert_relative(linear_power_sigma(power, 8.0), 0.8, 1e-12);
    assert_relative(linear_power_sigma(power, 2.0), 0.8 * pow(4.0, 0.5 * (index[i] + 3.0)), 1e-12);
    if (index[i] == -2.0)
      assert_relative(0.64 / linear_power_at(power, 1.0), 3.0 / (10.0 * M_PI * 8.0), 1e-12);
    linear_power_free(power);
  }
}

/** A table of sigma against one integral for each radius. @param tolerance  of the slope: more where P(k) ends */
static void check_sigma_table(const struct linear_power *power, double tolerance) {
  const double low = 0.02, high = 200.0, step = 1e-3;
  const struct linear_theory today = {.a = 1.0, .power = power, .growth = {.d1 = 1.0}};
  struct linear_sigma *table = linear_sigma_create(&today, low, high);
  for (double r = low; r <= high; r *= 1.37) {
    const double sigma = linear_power_sigma(power, r);
    assert_relative(linear_sigma_at(table, r), sigma, 1e-5);
    const double slope = log(linear_power_sigma(power, r * exp(-step)) /
                             linear_power_sigma(power, r * exp(step))) /
                         (2.0 * step);
    assert_near(linear_sigma_slope(table, r), slope, tolerance * slope);
  }
  linear_sigma_free(table);
}

static void test_sigma_table(void **state) {
  (void)state;
  const double index[] = {-2.25, 0.5};
  struct linear_power *power = linear_power_create(eisenstein_hu(0.3, 0.05, 0.7, 0.96));
  check_sigma_table(power, 1e-4);
  linear_power_free(power);
  for (size_t i = 0; i < sizeof index / sizeof *index; i++) {
    struct parameters p = *eisenstein_hu(1.0, 0.0, 0.7, index[i]);
    p.ic.power_spectrum = POWER_LAW;
    power = linear_power_create(&p);
    check_sigma_table(power, 1e-4);
    linear_power_free(power);
  }
}

static void test_no_baryons(void **state) {
  (void)state;
  struct linear_power *none = linear_power_create(eisenstein_hu(0.3, 0.0, 0.7, 0.96));
  struct linear_power *few = linear_power_create(eisenstein_hu(0.3, 3e-5, 0.7, 0.96));
  /* The fit changes by a few times the baryon fraction, 1e-4. */
  for (int k = 0; k < WAVENUMBERS; k++)
    assert_relative(linear_power_at(none, wavenumber[k]), linear_power_at(few, wavenumber[k]),
                    2e-3);
  linear_power_free(none);
  linear_power_free(few);
}

/* Tables. */

static const char *write_table(const char *text) {
  const char *path = scratch("table.txt");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  return path;
}

static struct parameters *table(bool normalise) {
  static struct parameters p;
  p = (struct parameters){.cosmology.sigma8 = 0.8,
                          .ic = {.power_spectrum = POWER_FILE, .normalise = normalise}};
  strcpy(p.ic.power_spectrum_file, scratch("table.txt"));
  return &p;
}

/* P = k^-2, for which a spline of ln P is exact: sigma^2 = 1/(2 pi^2 r) int 9 j1(x)^2/x^2 dx =
 * 3/(10 pi r). */
static void write_power_law(bool logarithmic) {
  FILE *file = fopen(scratch("table.txt"), "w");
  assert_non_null(file);
  fprintf(file, "# k P\n\n");
  for (int i = 0; i <= 28; i++) {
    double log_k = -10.0 + 0.5 * i;
    if (logarithmic)
      fprintf(file, " %.15g\t%.15g # a row\n", log_k, -2.0 * log_k);
    else
      fprintf(file, "%.15g %.15g\n", pow(10.0, log_k), pow(10.0, -2.0 * log_k));
  }
  assert_int_equal(fclose(file), 0);
}

static void test_table(void **state) {
  (void)state;
  for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
    write_power_law(logarithmic);
    struct parameters *own = table(false);
    own->cosmology.sigma8 = sqrt(3.0 / (80.0 * M_PI));
    struct linear_power *power = linear_power_create(own);
    for (double k = 1.3e-10; k < 1e4; k *= 2.9)
      assert_relative(linear_power_at(power, k), pow(k, -2.0), 1e-12);
    assert_relative(linear_power_at(power, 1e4 * (1.0 - 1e-12)), 1e-8, 1e-11); /* the last row */
    assert_true(linear_power_at(power, 0.9e-10) == 0.0);
    assert_true(linear_power_at(power, 1.1e4) == 0.0);
    assert_true(linear_power_at(power, 0.0) == 0.0);
    /* The integral runs over kr = 1e-7 .. 1e3, outside which 5e-8 of sigma^2 are in this
     * spectrum. */
    assert_relative(linear_power_sigma(power, 8.0), sqrt(3.0 / (80.0 * M_PI)), 5e-8);
    linear_power_free(power);

    power = linear_power_create(table(true));
    assert_relative(linear_power_at(power, 0.1), 100.0 * 0.64 / (3.0 / (80.0 * M_PI)), 1e-7);
    linear_power_free(power);
  }
}

/* A table of the fit has its transfer functions, whatever its amplitude. */
static void test_transfer_of_a_table(void **state) {
  (void)state;
  struct parameters *p = eisenstein_hu(0.3, 0.05, 0.7, 0.96);
  const double *transfer = colossus[0].transfer;
  char text[512] = "";
  for (int k = 0; k < WAVENUMBERS; k++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%.10g %.10g\n", wavenumber[k],
             5.0 * pow(wavenumber[k], 0.96) * pow(transfer[k], 2.0));
  strcpy(p->ic.power_spectrum_file, write_table(text));
  p->ic.power_spectrum = POWER_FILE;
  struct linear_power *power = linear_power_create(p);
  for (int k = 1; k < WAVENUMBERS - 1; k++)
    assert_relative(linear_power_transfer(power, wavenumber[k]), transfer[k], 1e-8);
  assert_true(linear_power_transfer(power, 100.0) == 0.0);
  linear_power_free(power);
}

/* params/planck2018_power.txt scaled to Planck's sigma8. Eisenstein & Hu claim an accuracy of some
 * per cent for their fit. */
static void test_planck_table(void **state) {
  (void)state;
  const char *source = getenv("PHOTONS_SOURCE");
  struct parameters *p = table(false);
  snprintf(p->ic.power_spectrum_file, sizeof p->ic.power_spectrum_file,
           "%s/params/planck2018_power.txt", source ? source : ".");
  struct linear_power *power = linear_power_create(p);
  /* seven digits a row, and CAMB's integral: 1e-5 */
  assert_relative(linear_power_sigma(power, 8.0), 0.812, 1e-4);
  check_sigma_table(power, 1e-3);
  p = eisenstein_hu(0.316, 0.0494, 0.6732, 0.966);
  p->cosmology.sigma8 = 0.812;
  struct linear_power *fit = linear_power_create(p);
  for (double k = 2e-4; k < 20.0; k *= 1.3)
    assert_relative(linear_power_at(power, k), linear_power_at(fit, k), 0.06);
  linear_power_free(power);
  linear_power_free(fit);
}

static void create(void *p) { linear_power_create(p); }

static void test_bad_tables(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } bad[] = {
      {"", "0 rows"},
      {"1e-3 1\n1e-2 2\n", "2 rows"},
      {"# P\n1e-3 1\n1e-2\n1 2\n", ":3: expected two numbers"},
      {"1e-3 1\n1e-2 two\n1 2\n", ":2: expected two numbers"},
      {"1e-3 1 7\n1e-2 2 7\n1 2 7\n", ":1: expected two numbers"},
      {"1e-3 1\n1e-2 nan\n1 2\n", ":2: \"1e-2 nan\" is not finite"},
      {"1e-3 1\n1e-2 0\n1 2\n", ":2: k and P must be above 0"},
      {"1e-3 1\n1e-2 1\n1e-2 2\n", ":3: k must rise"},
      {"-2 1\n-3 1\n", ":2: k must rise"},
      {"-2 1\n-1 1e300\n0 1\n", ":2: P = 10^1e+300"},
      {"-2 1\n-1 -400\n0 1\n", ":2: P = 10^-400"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *path = write_table(bad[i].text);
    expect_failure(create, table(false), EXIT_BAD_INPUT, bad[i].message);
    expect_failure(create, table(false), EXIT_BAD_INPUT, path);
  }
  write_table("0.1 1\n1 1\n10 1\n");
  expect_failure(create, table(true), EXIT_BAD_INPUT, "covers k = 0.1 .. 10");
  /* Rows that a double can hold, but not the values between them, or their sum. */
  static const char *const large[][2] = {
      {"1e-4 1\n0.1 1e300\n0.11 1e-300\n0.12 1e300\n1 1\n100 1\n", "is 10^"},
      {"1e-4 1\n1e-2 1\n0.01001 1e6\n100 1e6\n", "is 10^"}, /* a swing between good rows */
      {"1e-4 1e308\n0.1 1e308\n1 1e308\n100 1e308\n",
       "is 10^308 at k = 10^-4, expected 10^-300 .. 10^300"},
      {"1e-4 1e-320\n0.1 1e-320\n1 1e-320\n100 1e-320\n", "is 10^-320"}};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    const char *path = write_table(large[i][0]);
    expect_failure(create, table(false), EXIT_BAD_INPUT, large[i][1]);
    expect_failure(create, table(true), EXIT_BAD_INPUT, large[i][1]);
    expect_failure(create, table(true), EXIT_BAD_INPUT, path);
  }
  scratch_empty(NULL);
  expect_failure(create, table(false), EXIT_BAD_INPUT, "No such file");
}

enum { AS_IT_IS, BYTE_ORDER_MARK, PER_MPC, NATURAL_LOGARITHMS, DELTA2, REDSHIFT_HALF, REDSHIFT_49 };

/* The table of Planck's spectrum as somebody else would have written it. */
static void write_planck(int kind) {
  const char *source = getenv("PHOTONS_SOURCE");
  const double h = 0.6732;
  char line[256], path[512];
  snprintf(path, sizeof path, "%s/params/planck2018_power.txt", source ? source : ".");
  FILE *in = fopen(path, "r"), *out = fopen(scratch("table.txt"), "w");
  assert_non_null(in);
  assert_non_null(out);
  if (kind == BYTE_ORDER_MARK) fputs("\xef\xbb\xbf", out);
  while (fgets(line, sizeof line, in)) {
    char *second, *end;
    double k = strtod(line, &second), p = strtod(second, &end);
    if (end == second) continue;
    if (kind == PER_MPC) k *= h, p /= h * h * h;
    if (kind == DELTA2) p *= k * k * k / (2.0 * M_PI * M_PI);
    if (kind == REDSHIFT_HALF) p *= 0.594; /* D1(z = 0.5) = 0.771 */
    if (kind == REDSHIFT_49) p *= 6.5e-4;
    if (kind == NATURAL_LOGARITHMS) k = log(k), p = log(p);
    fprintf(out, "%.7e %.7e\n", k, p);
  }
  fclose(in);
  fclose(out);
}

static struct parameters *planck(bool normalise) {
  struct parameters *p = table(normalise);
  p->cosmology = eisenstein_hu(0.316, 0.0494, 0.6732, 0.966)->cosmology;
  p->cosmology.sigma8 = 0.812;
  return p;
}

static void create_and_free(void *p) { linear_power_free(linear_power_create(p)); }

/* Other units, logarithms and redshifts: sigma8 and the run of sigma with scale tell. */
static void test_other_tables(void **state) {
  (void)state;
  static const struct {
    int kind;
    const char *scaled, *as_it_is; /* what is said; "" nothing */
    bool refused;                  /* as it is */
  } tables[] = {
      {AS_IT_IS, "", "", false},
      {BYTE_ORDER_MARK, "", "", false},
      {PER_MPC, "k in 1/Mpc, natural logarithms",
       "its sigma8 is 1.052; it is taken as it is, and cosmology.sigma8 is 0.812", false},
      {NATURAL_LOGARITHMS, "scaled to cosmology.sigma8 = 0.812", "its sigma8 is", true},
      {DELTA2, "scaled to cosmology.sigma8 = 0.812", "its sigma8 is 0.02", true},
      {REDSHIFT_HALF, "",
       "its sigma8 is 0.6258; it is taken as it is, and cosmology.sigma8 is 0.812", false},
      {REDSHIFT_49, "its sigma8 is 0.0207; it is scaled to", "its sigma8 is 0.0207", true},
  };
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    write_planck(tables[i].kind);
    expect_warning(create_and_free, planck(true), tables[i].scaled);
    if (tables[i].refused)
      expect_failure(create, planck(false), EXIT_BAD_INPUT, tables[i].as_it_is);
    else
      expect_warning(create_and_free, planck(false), tables[i].as_it_is);
    struct linear_power *power = linear_power_create(planck(true));
    if (tables[i].kind <= BYTE_ORDER_MARK)
      assert_relative(linear_power_table_sigma8(power), 0.812, 1e-4);
    assert_relative(linear_power_sigma(power, 8.0), 0.812, 1e-6);
    linear_power_free(power);
  }
}

/* 1e300 in every row is a matter of units: scaled to sigma8 it is a valid spectrum. */
static void test_scaled_table(void **state) {
  (void)state;
  write_table("1e-4 1e300\n0.1 1e300\n1 1e300\n100 1e300\n");
  struct linear_power *power = linear_power_create(table(true));
  assert_relative(linear_power_sigma(power, 8.0), 0.8, 1e-7);
  linear_power_free(power);
}

static void data_path(char *path, size_t size, const char *name) {
  const char *source = getenv("PHOTONS_SOURCE");
  snprintf(path, size, "%s/tests/data/%s", source ? source : ".", name);
}

/* sigma of cold dark matter and baryons and the rate of sigma8 with neutrinos of 0.3 eV together, from P(k) of CLASS 3.4.1
 * (pk_cb_lin()).
 * The integral ends at k = 2.5 h/Mpc, and the rate is a difference over 0.02 in z: 1e-3. */
static void test_sigma_with_neutrinos(void **state) {
  (void)state;
  static const double radius[] = {8.0, 16.0, 30.0};
  static const struct {
    double z, sigma[3], rate;
  } class[] = {{0.0, {0.81734868, 0.48936129, 0.27977391}, NAN},
               {0.5, {0.63416121, 0.37959184, 0.21693756}, 0.73902150},
               {1.0, {0.50341136, 0.30127150, 0.17212584}, 0.85730796}};
  struct parameters p = *eisenstein_hu(0.3, 0.05, 0.6732, 0.966);
  p.cosmology.sigma8 = 0.8;
  p.cosmology.omega_r = 5.46183e-5;
  p.cosmology.omega_lambda = 0.7 - 5.46183e-5;
  p.cosmology.w0 = -1.0;
  p.cosmology.m_nu_count = 3;
  for (int i = 0; i < 3; i++) p.cosmology.m_nu[i] = 0.1;
  p.box.size = 500.0;
  p.ic.z_init = 49.0;
  p.ic.power_spectrum = POWER_FILE;
  p.ic.normalise = false;
  data_path(p.ic.power_spectrum_file, sizeof p.ic.power_spectrum_file, "neutrinos_pk.txt");
  data_path(p.cosmology.species_file, sizeof p.cosmology.species_file, "neutrinos_species.txt");
  const struct cosmology c = cosmology_from(&p);
  struct linear_power *power = linear_power_create(&p);
  struct species *species = species_create(&p);
  for (int i = 0; i < 3; i++) {
    const struct linear_theory t = linear_theory_at(1.0 / (1.0 + class[i].z), power, &c, species,
                                                    0.0);
    struct linear_sigma *sigma = linear_sigma_create(&t, radius[0], radius[2]);
    for (int k = 0; k < 3; k++) {
      assert_relative(linear_theory_sigma(&t, radius[k]), class[i].sigma[k], 1e-3);
      assert_relative(linear_sigma_at(sigma, radius[k]), class[i].sigma[k], 1e-3);
    }
    const struct growth growth = linear_theory_mean_growth(&t);
    assert_relative(growth.d1, class[i].sigma[0] / class[0].sigma[0], 1e-3);
    if (class[i].z > 0.0) assert_relative(growth.f1, class[i].rate, 1e-3);
    linear_sigma_free(sigma);
  }
  species_free(species);
  linear_power_free(power);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_eisenstein_hu),       cmocka_unit_test(test_variance_by_another_rule),
      cmocka_unit_test(test_transfer_of_a_table), cmocka_unit_test(test_power_law),
      cmocka_unit_test(test_sigma_table),         cmocka_unit_test(test_sigma_with_neutrinos),
      cmocka_unit_test(test_no_baryons),          cmocka_unit_test(test_table),
      cmocka_unit_test(test_planck_table),        cmocka_unit_test(test_bad_tables),
      cmocka_unit_test(test_scaled_table),        cmocka_unit_test(test_other_tables),
  };
  gsl_set_error_handler_off(); /* as the program does */
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
