/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The division of a sequence of costs among ranks, against all possible divisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/balance.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "photons/step/step.h"
#include "support/force_set.h"

#include <cmocka.h>

#include "support/assert_near.h"

enum { GROUPS = 9, PARTS = 4 };

static double dearest(const double *cost, const uint32_t *first, uint32_t parts) {
  double most = 0.0;
  for (uint32_t p = 0; p < parts; p++) {
    double sum = 0.0;
    for (uint32_t i = first[p]; i < first[p + 1]; i++) sum += cost[i];
    most = sum > most ? sum : most;
  }
  return most;
}

/** The best of all divisions of n costs into PARTS runs. */
static double best_cut(const double *cost, uint32_t n) {
  double best = 1e300;
  for (uint32_t a = 0; a <= n; a++)
    for (uint32_t b = a; b <= n; b++)
      for (uint32_t c = b; c <= n; c++) {
        const double this = dearest(cost, (const uint32_t[]){0, a, b, c, n}, PARTS);
        best = this < best ? this : best;
      }
  return best;
}

/** The next pseudo-random number below n (Knuth's MMIX). */
static uint32_t any_below(uint64_t *row, uint32_t n) {
  *row = *row * 6364136223846793005U + 1442695040888963407U;
  return (uint32_t)(*row >> 33) % n;
}

static void test_best_of_all(void **state) {
  (void)state;
  uint64_t row = 7;
  for (int round = 0; round < 200; round++) {
    double cost[GROUPS];
    uint32_t first[PARTS + 1];
    for (int i = 0; i < GROUPS; i++)
      cost[i] = any_below(&row, 4) == 0 ? 0.0 : (double)any_below(&row, 1000);
    const double promised = balance_cut(cost, GROUPS, PARTS, first), best = best_cut(cost, GROUPS);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[PARTS], GROUPS);
    for (int p = 0; p < PARTS; p++) assert_true(first[p] <= first[p + 1]);
    /* The bisection ends at 1e-9 of the sum. */
    assert_near(dearest(cost, first, PARTS), best, 1e-8 * best + 1e-12);
    assert_true(promised >= best - 1e-8 * best);
  }
}

static void test_more_parts_than_costs(void **state) {
  (void)state;
  const double cost[] = {3.0, 1.0};
  uint32_t first[6];
  assert_near(balance_cut(cost, 2, 5, first), 3.0, 1e-6);
  assert_int_equal(first[5], 2);
  assert_near(dearest(cost, first, 5), 3.0, 0.0);
}

static void test_one_dear_group(void **state) {
  (void)state;
  double cost[64];
  uint32_t first[5];
  /* a dominant halo: 84 in all, 21 a part */
  for (int i = 0; i < 64; i++) cost[i] = i == 21 ? 21.0 : 1.0;
  assert_near(balance_cut(cost, 64, 4, first), 21.0, 1e-6);
  assert_int_equal(first[2] - first[1], 1);
}

/* Clustered particles on four ranks, with pairs as the cost of a group: the cost of each rank is
 * within a tenth of the mean, and nearer to it than with groups dealt out evenly. */
static void test_clustered(void **state) {
  (void)state;
  struct parameters p;
  char text[5000];
  snprintf(text, sizeof text,
           "[ic]\nsource = gadget\nfile = %s\n[gravity]\nsoftening = 100\npm_grid = "
           "24\n[runtime]\ngroup_size = 256\n",
           force_set_path("late.hdf5"));
  parameters_from_text(&p, text, NULL, 0);
  start_starpu_for_tests();
  struct particles particles = ic_read_gadget(&p);
  struct nbody *n = nbody_create(&p, particles);
  step_first_forces(n);
  const uint32_t groups = n->domain.group_count;
  double *cost = allocate(groups, sizeof *cost, "costs"), mean = 0.0;
  for (uint32_t i = 0; i < groups; i++) {
    cost[i] = (double)n->short_range.groups[i].pairs;
    mean += cost[i] / PARTS;
  }
  uint32_t even[PARTS + 1], first[PARTS + 1];
  for (uint32_t i = 0; i <= PARTS; i++) even[i] = i * groups / PARTS;
  (void)balance_cut(cost, groups, PARTS, first);
  print_message("%u groups, dearest part over the mean: %.3f dealt out evenly, %.3f balanced\n",
                groups, dearest(cost, even, PARTS) / mean, dearest(cost, first, PARTS) / mean);
  assert_true(dearest(cost, first, PARTS) <= 1.1 * mean);
  assert_true(dearest(cost, first, PARTS) < dearest(cost, even, PARTS));
  free(cost);
  nbody_free(n);
  engine_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_best_of_all), cmocka_unit_test(test_more_parts_than_costs),
      cmocka_unit_test(test_one_dear_group), cmocka_unit_test(test_clustered)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
