/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear spectrum against another implementation and closed forms, and what is wrong with tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "photons/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/linear_power.h"
#include "photons/parameters.h"

#include <cmocka.h>

#include "assert_near.h"

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
     {0.9922532209, 0.7798740158, 0.2676976565, 0.1286076219, 0.05410428895, 0.004587867257, 8.776769571e-05}},
    {0.3144,
     0.0494,
     0.6732,
     {0.9923665144, 0.7821156025, 0.2736991328, 0.1329611388, 0.0558637629, 0.004767911686, 9.151101241e-05}},
    {1.0,
     0.1,
     0.5,
     {0.9984566705, 0.9218148901, 0.5559526419, 0.3405418485, 0.1763255533, 0.02049685561, 0.0004679357127}},
};

static struct parameters *eisenstein_hu(double omega_m, double omega_b, double h, double n_s) {
  static struct parameters p;
  p = (struct parameters){.cosmology = {.omega_m = omega_m, .omega_b = omega_b, .h = h, .n_s = n_s, .sigma8 = 0.8},
                          .ic = {.power_spectrum = POWER_EH98, .normalise = true}};
  return &p;
}

static void test_eisenstein_hu(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof colossus / sizeof *colossus; i++) {
    struct linear_power *power = linear_power_create(
        eisenstein_hu(colossus[i].omega_m, colossus[i].omega_b, colossus[i].h, 0.96));
    const double unit = linear_power_at(power, 1e-3) / (pow(1e-3, 0.96) * pow(colossus[i].transfer[0], 2.0));
    for (int k = 1; k < WAVENUMBERS; k++)
      assert_relative(linear_power_at(power, wavenumber[k]),
                      unit * pow(wavenumber[k], 0.96) * pow(colossus[i].transfer[k], 2.0), 1e-8); /* ten digits given */
    assert_relative(linear_power_sigma(power, 8.0), 0.8, 1e-7); /* the integral's tolerance is 1e-8 */
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
  /* k^2 P ~ k^3 at k = 0 and beyond k = 10: an error of some step^2, and a tail of (k r)^-3 or so. */
  assert_relative(linear_power_sigma(power, r), sqrt(sum / (2.0 * M_PI * M_PI)), 1e-6);
  linear_power_free(power);
}

static void test_no_baryons(void **state) {
  (void)state;
  struct linear_power *none = linear_power_create(eisenstein_hu(0.3, 0.0, 0.7, 0.96));
  struct linear_power *few = linear_power_create(eisenstein_hu(0.3, 3e-5, 0.7, 0.96));
  /* The fit changes by some times the share of baryons, 1e-4. */
  for (int k = 0; k < WAVENUMBERS; k++)
    assert_relative(linear_power_at(none, wavenumber[k]), linear_power_at(few, wavenumber[k]), 2e-3);
  linear_power_free(none);
  linear_power_free(few);
}

/* Tables. */

static char table_path[] = "/tmp/photons-table-XXXXXX";

static void write_table(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_table(const char *format, ...) {
  FILE *file = fopen(table_path, "w");
  assert_non_null(file);
  va_list arguments;
  va_start(arguments, format);
  assert_true(vfprintf(file, format, arguments) >= 0);
  va_end(arguments);
  assert_int_equal(fclose(file), 0);
}

static struct parameters *table(bool normalise) {
  static struct parameters p;
  p = (struct parameters){.cosmology.sigma8 = 0.8, .ic = {.power_spectrum = POWER_FILE, .normalise = normalise}};
  strcpy(p.ic.power_spectrum_file, table_path);
  return &p;
}

/* P = k^-2, for which a spline of ln P is exact: sigma^2 = 1/(2 pi^2 r) int 9 j1(x)^2/x^2 dx = 3/(10 pi r). */
static void write_power_law(bool logarithmic) {
  FILE *file = fopen(table_path, "w");
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
    struct linear_power *power = linear_power_create(table(false));
    for (double k = 1.3e-10; k < 1e4; k *= 2.9) assert_relative(linear_power_at(power, k), pow(k, -2.0), 1e-12);
    assert_relative(linear_power_at(power, 1e4 * (1.0 - 1e-12)), 1e-8, 1e-11); /* the last row */
    assert_true(linear_power_at(power, 0.9e-10) == 0.0);
    assert_true(linear_power_at(power, 1.1e4) == 0.0);
    assert_true(linear_power_at(power, 0.0) == 0.0);
    /* The integral runs over kr = 1e-7 .. 1e3, outside which 5e-8 of sigma^2 are in this spectrum. */
    assert_relative(linear_power_sigma(power, 8.0), sqrt(3.0 / (80.0 * M_PI)), 5e-8);
    linear_power_free(power);

    power = linear_power_create(table(true));
    assert_relative(linear_power_at(power, 0.1), 100.0 * 0.64 / (3.0 / (80.0 * M_PI)), 1e-7);
    linear_power_free(power);
  }
}

/* End of the program with EXIT_BAD_INPUT and this in the message. */
static void assert_refused(bool normalise, const char *message) {
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(pipes[1], STDERR_FILENO);
    linear_power_create(table(normalise));
    _exit(0);
  }
  close(pipes[1]);
  char said[4096] = "";
  size_t length = 0;
  for (ssize_t got; (got = read(pipes[0], said + length, sizeof said - 1 - length)) > 0;) length += (size_t)got;
  close(pipes[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), EXIT_BAD_INPUT);
  if (!strstr(said, message)) fail_msg("\"%s\" does not say \"%s\"", said, message);
}

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
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_table("%s", bad[i].text);
    assert_refused(false, bad[i].message);
    assert_refused(false, table_path);
  }
  write_table("0.1 1\n1 1\n10 1\n");
  assert_refused(true, "covers k = 0.1 .. 10");
  assert_int_equal(unlink(table_path), 0);
  assert_refused(false, "No such file");
}

static int make_table(void **state) {
  (void)state;
  int file = mkstemp(table_path);
  return file < 0 ? -1 : close(file);
}

static int remove_table(void **state) {
  (void)state;
  unlink(table_path);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_eisenstein_hu), cmocka_unit_test(test_variance_by_another_rule),
      cmocka_unit_test(test_no_baryons),    cmocka_unit_test(test_table),
      cmocka_unit_test(test_bad_tables),
  };
  return cmocka_run_group_tests(tests, make_table, remove_table);
}
