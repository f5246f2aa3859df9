/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rebuilds inside the base steps of isolated systems: the policy by itself, and a galaxy whose
 * centre turns many times within a base step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/analysis/energy.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/ic.h"
#include "photons/step/block_step.h"
#include "photons/step/statistics.h"
#include "photons/step/step.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

static struct parameters parameters(void) {
  struct parameters p;
  parameters_from_text(
      &p,
      "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[galaxy]\nmodel = plummer\n"
      "particles = 4000\n[runtime]\ngroup_size = 512\nleaf_size = 8\n[time]\nend = 1000\n"
      "eta = 0.2\n[gravity]\nmac_tolerance = 0.01\nsoftening = 0.5\nsoftening_kernel = plummer\n",
      NULL, 0);
  return p;
}

struct outcome {
  double energy_error;
  struct work_counts work;
  uint32_t sorts, rebuilds, sub_steps;
};

static double total_energy(struct nbody *n) {
  return statistics_measure(n, 1.0).kinetic + potential_energy(n, 1.0);
}

/** A base step of 200 Myr: a sphere of 1e11 Msun and 5 kpc turns in 100 Myr. */
static struct outcome evolve(bool rebuild) {
  const struct parameters p = parameters();
  const struct cosmology c = cosmology_from(&p);
  struct nbody *n = nbody_create(&p, ic_isolated(&p));
  struct renewal_policy policy = {0};
  struct outcome o = {0};
  step_first_forces(n);
  const double before = total_energy(n);
  struct base_step b = block_open(n, &p, &c, 0.0, cosmology_time(200.0));
  b.policy = rebuild ? &policy : NULL;
  while (block_advance(n, &b)) {}
  block_close(n, &b, NULL, NULL);
  o.sorts = b.sorts;
  o.rebuilds = b.rebuilds;
  o.sub_steps = b.sub_steps;
  o.work = b.work;
  o.energy_error = fabs(total_energy(n) / before - 1.0);
  nbody_free(n);
  print_message(
      "%u sorts, %u rebuilds in %u steps: %.4g pairs, %.4g expansions, %.4g visits, energy "
      "%.1e\n",
      o.sorts, o.rebuilds, o.sub_steps, (double)o.work.pairs, (double)o.work.interactions,
      (double)o.work.visits, o.energy_error);
  return o;
}

static void renewals_save_work(void **state) {
  (void)state;
  const struct outcome never = evolve(false), tuned = evolve(true);
  assert_int_equal(never.sorts + never.rebuilds, 0);
  assert_true(tuned.sorts >= 2 && tuned.rebuilds >= 2); /* groups mix, too */
  assert_true(tuned.sorts + tuned.rebuilds < tuned.sub_steps / 2);
  assert_true((double)tuned.work.pairs < 0.5 * (double)never.work.pairs);
  assert_true(tuned.energy_error < 2e-3);
  assert_true(never.energy_error < 2e-3);
}

/** Work that grows by `growth` of itself a step since the last renewal: the steps between
 * renewals that the policy takes. */
static int interval(double growth, double cost_in_steps) {
  struct renewal_policy s = {0};
  struct fresh_work fresh = {0};
  const uint64_t work = 1000000000; /* pairs */
  int steps = 0, renewals = 0, age = 0;
  /* Pairs per particle fix the ratio of a sort's cost to a step's: see policy.c. */
  const size_t counted = (size_t)(cost_in_steps * 0.5 * (double)work / 100.0);
  for (; renewals < 20 && steps < 100000; steps++) {
    const enum renewal due = renewal_policy_choose(&s, &fresh, 0, 1000, counted);
    if (due != RENEW_NOTHING) {
      renewal_policy_done(&s, &fresh, due);
      renewals++;
      age = 0;
    }
    const struct work_counts w = {.pairs = work + (uint64_t)(growth * age * (double)work)};
    renewal_policy_account(&s, &fresh, 0, &w, 1000, counted);
    age++;
  }
  return steps / renewals;
}

/** The least sum of extra work and rebuilds is at sqrt(2 C/alpha) steps, if the extra work grows by
 * alpha a step. */
static void the_interval_is_the_best_one(void **state) {
  (void)state;
  static const double growth[] = {0.001, 0.01, 0.1};
  for (size_t k = 0; k < 3; k++)
    for (double cost = 0.1; cost < 2.0; cost *= 4.0) {
      const double best = sqrt(2.0 * cost / growth[k]), found = interval(growth[k], cost);
      const double excess = (cost / found + 0.5 * growth[k] * found) /
                            (cost / best + 0.5 * growth[k] * best);
      print_message("growth %g, cost %g steps: %g steps, best %.1f: %.2f of the least cost\n",
                    growth[k], cost, found, best, excess);
      assert_true(excess < 1.15);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_interval_is_the_best_one),
      cmocka_unit_test(renewals_save_work),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
