/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time that a run still takes: from known costs, and replayed over recorded runs. */
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

static const struct cosmology flat = {.omega_m = 0.316, .omega_lambda = 0.684, .w0 = -1.0};
static const struct cosmology still = {.isolated = true};

/** The work of two intervals is that of both together; in a static system it is the time. */
static void test_work(void **state) {
  (void)state;
  const double first = eta_work(&flat, 0.02, 0.1), then = eta_work(&flat, 0.1, 1.0);
  assert_near((first + then) / eta_work(&flat, 0.02, 1.0), 1.0, 1e-3);
  assert_true(first < 0.2 * then); /* although ln a rises by 1.6 and 2.3 */
  const double one = eta_work(&still, 0.0, cosmology_time(10.0));
  const double more = eta_work(&still, cosmology_time(50.0), cosmology_time(80.0));
  assert_near(more / one, 3.0, 1e-9);
  assert_near(eta_work(&flat, 0.5, 0.5), 0.0, 0.0);
}

static void test_few_steps(void **state) {
  (void)state;
  struct eta e = {0};
  assert_true(isnan(eta_seconds(&e, 1.0, 3)));
  eta_step(&e, 0.0, 1.0, false); /* the first forces are no step in time */
  for (int i = 0; i < 3; i++) eta_step(&e, 0.01, 1.0, false);
  assert_true(isnan(eta_seconds(&e, 1.0, 3)));
  eta_step(&e, 0.02, 2.0, false);
  assert_near(eta_seconds(&e, 1.0, 0), 100.0, 1e-9);
  assert_near(eta_seconds(&e, 0.0, 0), 0.0, 1e-12);
}

/** An output counts as ten steps until one is written, then by the mean of those written. */
static void test_outputs(void **state) {
  (void)state;
  struct eta e = {0};
  for (int i = 0; i < 4; i++) eta_step(&e, 0.01, 0.5, false);
  assert_near(eta_seconds(&e, 1.0, 2) - eta_seconds(&e, 1.0, 0), 10.0, 1e-9);
  eta_output(&e, 3.0);
  eta_output(&e, 5.0);
  assert_near(eta_seconds(&e, 1.0, 2) - eta_seconds(&e, 1.0, 0), 8.0, 1e-9);
}

/** What a step takes longer because of an output is not taken for its work. */
static void test_step_with_output(void **state) {
  (void)state;
  struct eta e = {0};
  for (int i = 0; i < 20; i++) eta_step(&e, 0.01, 0.5, false);
  eta_step(&e, 0.01, 5.0, true);
  eta_output(&e, 4.5);
  assert_near(eta_seconds(&e, 1.0, 0), 50.0, 1e-9);
  eta_step(&e, 0.01, 0.1, true); /* a step that is shorter counts as it is */
  assert_true(eta_seconds(&e, 1.0, 0) < 49.0);
}

/** When the cost of work changes, what is told follows within a share of the time so far. */
static void test_change(void **state) {
  (void)state;
  struct eta e = {0};
  for (int i = 0; i < 100; i++) eta_step(&e, 0.01, 1.0, false);
  for (int i = 0; i < 20; i++) eta_step(&e, 0.01, 3.0, false);
  assert_near(eta_seconds(&e, 1.0, 0), 300.0, 30.0);
}

/** Noise of single steps, as on a busy machine, is averaged. */
static void test_noise(void **state) {
  (void)state;
  struct eta e = {0};
  for (int i = 0; i < 100; i++) eta_step(&e, 0.025, i % 2 ? 1.5 : 0.5, false);
  assert_near(eta_seconds(&e, 2.0, 0), 80.0, 8.0);
}

enum { STEPS_MOST = 1000 };
struct recorded {
  double dlna[STEPS_MOST], seconds[STEPS_MOST], a[STEPS_MOST], left[STEPS_MOST];
  int steps;
};

/** dlna and seconds of each step; the last one ends at z = 0. */
static struct recorded *read_recorded(const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/data/%s", getenv("PHOTONS_SOURCE"), name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  struct recorded *r = calloc(1, sizeof *r);
  assert_non_null(r);
  char line[256], *end;
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    assert_in_range(r->steps, 0, STEPS_MOST - 1);
    r->dlna[r->steps] = strtod(line, &end);
    r->seconds[r->steps++] = strtod(end, &end);
    assert_int_equal(*end, '\n');
  }
  fclose(file);
  r->a[r->steps - 1] = 1.0;
  for (int i = r->steps - 2; i >= 0; i--) {
    r->a[i] = r->a[i + 1] * exp(-r->dlna[i + 1]);
    r->left[i] = r->left[i + 1] + r->seconds[i + 1];
  }
  return r;
}

/** From a quarter of the time on what is told is right to 30 %, and to a factor of two before. */
static void replay(const char *name) {
  static const double shares[] = {0.1, 0.25, 0.5, 0.75};
  struct recorded *r = read_recorded(name);
  struct eta e = {0};
  const double all = r->left[0] + r->seconds[0];
  int next = 0;
  for (int i = 0; i < r->steps && next < 4; i++) {
    eta_step(&e, eta_work(&flat, r->a[i] * exp(-r->dlna[i]), r->a[i]), r->seconds[i], false);
    if (all - r->left[i] < shares[next] * all) continue;
    const double ratio = eta_seconds(&e, eta_work(&flat, r->a[i], 1.0), 0) / r->left[i];
    printf("%s: %2.0f %% of the time: told / true = %.2f\n", name, 100.0 * shares[next], ratio);
    if (shares[next++] >= 0.25)
      assert_near(ratio, 1.0, 0.3);
    else
      assert_true(ratio > 0.5 && ratio < 2.0);
  }
  assert_int_equal(next, 4);
  free(r);
}

static void test_block_steps(void **state) {
  (void)state;
  replay("steps_block_64.txt");
}
static void test_block_steps_gpu(void **state) {
  (void)state;
  replay("steps_block_128_gpu.txt");
}
static void test_adaptive_steps(void **state) {
  (void)state;
  replay("steps_adaptive_32.txt");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_work),           cmocka_unit_test(test_few_steps),
      cmocka_unit_test(test_outputs),        cmocka_unit_test(test_step_with_output),
      cmocka_unit_test(test_change),         cmocka_unit_test(test_noise),
      cmocka_unit_test(test_block_steps),    cmocka_unit_test(test_block_steps_gpu),
      cmocka_unit_test(test_adaptive_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
