/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that a run still takes: from laws that are known, and replayed over recorded runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/app/eta.h"

#include <cmocka.h>

#include "support/assert_near.h"

/** Steps of equal length from ln a = 0 to 3, the seconds per unit of ln a being exp(slope ln a). */
static double told_over_true(double slope, double until) {
  const double end = 3.0, dlna = 0.025;
  struct eta e = {0};
  double at = 0.0;
  for (; at < until; at += dlna)
    eta_step(&e, dlna, (exp(slope * (at + dlna)) - exp(slope * at)) / slope);
  return eta_seconds(&e, end - at, 0) / ((exp(slope * end) - exp(slope * at)) / slope);
}

/** The usual slope is found at once, others the better the less is left. */
static void test_power_law(void **state) {
  (void)state;
  assert_near(told_over_true(0.7, 0.15), 1.0, 1e-3);
  for (double slope = 0.2; slope < 1.3; slope += 0.5)
    assert_near(told_over_true(slope, 2.5), 1.0, 0.3);
}

static void test_few_steps(void **state) {
  (void)state;
  struct eta e = {0};
  assert_true(isnan(eta_seconds(&e, 1.0, 3)));
  eta_step(&e, 0.0, 1.0); /* the first forces are no step in time */
  eta_step(&e, 0.01, 1.0);
  assert_true(isnan(eta_seconds(&e, 1.0, 3)));
  for (int i = 0; i < 3; i++) eta_step(&e, 0.01, 1.0);
  const double left = eta_seconds(&e, 1.0, 0);
  assert_true(left > 100.0 && left < 200.0);
  assert_near(eta_seconds(&e, 0.0, 0), 0.0, 1e-12);
}

static void test_outputs(void **state) {
  (void)state;
  struct eta e = {0};
  for (int i = 0; i < 4; i++) eta_step(&e, 0.01, 1.0);
  eta_output(&e, 3.0);
  eta_output(&e, 5.0);
  assert_near(eta_seconds(&e, 1.0, 2) - eta_seconds(&e, 1.0, 0), 8.0, 1e-9);
}

/** Noise of single steps, as on a busy machine, does not run away with the slope. */
static void test_noise(void **state) {
  (void)state;
  struct eta e = {0};
  for (int i = 0; i < 40; i++) eta_step(&e, 0.025, i % 2 ? 1.5 : 0.5);
  const double steady = 40.0 * expm1(0.7 * 2.0) / 0.7; /* with the usual slope */
  const double left = eta_seconds(&e, 2.0, 0);
  assert_true(left > 0.5 * steady && left < 1.5 * steady);
}

enum { STEPS_MOST = 1000 };
struct recorded {
  double dlna[STEPS_MOST], seconds[STEPS_MOST], ahead[STEPS_MOST], left[STEPS_MOST];
  int steps;
};

/** dlna and seconds of each step. */
static struct recorded *read_recorded(const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/data/%s", getenv("PHOTONS_SOURCE"), name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  struct recorded *r = calloc(1, sizeof *r);
  assert_non_null(r);
  char line[256];
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    assert_in_range(r->steps, 0, STEPS_MOST - 1);
    assert_int_equal(sscanf(line, "%lf %lf", &r->dlna[r->steps], &r->seconds[r->steps]), 2);
    r->steps++;
  }
  fclose(file);
  for (int i = r->steps - 2; i >= 0; i--) {
    r->ahead[i] = r->ahead[i + 1] + r->dlna[i + 1];
    r->left[i] = r->left[i + 1] + r->seconds[i + 1];
  }
  return r;
}

/** From a quarter of the time on what is told is right to 30 %. */
static void replay(const char *name) {
  static const double shares[] = {0.1, 0.25, 0.5, 0.75};
  struct recorded *r = read_recorded(name);
  struct eta e = {0};
  const double all = r->left[0] + r->seconds[0];
  int next = 0;
  for (int i = 0; i < r->steps && next < 4; i++) {
    eta_step(&e, r->dlna[i], r->seconds[i]);
    if (all - r->left[i] < shares[next] * all) continue;
    const double ratio = eta_seconds(&e, r->ahead[i], 0) / r->left[i];
    printf("%s: %2.0f %% of the time: told / true = %.2f\n", name, 100.0 * shares[next], ratio);
    if (shares[next++] >= 0.25) assert_near(ratio, 1.0, 0.3);
  }
  assert_int_equal(next, 4);
  free(r);
}

static void test_block_steps(void **state) {
  (void)state;
  replay("steps_block_64.txt");
}
static void test_adaptive_steps(void **state) {
  (void)state;
  replay("steps_adaptive_32.txt");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_power_law),   cmocka_unit_test(test_few_steps),
      cmocka_unit_test(test_outputs),     cmocka_unit_test(test_noise),
      cmocka_unit_test(test_block_steps), cmocka_unit_test(test_adaptive_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
