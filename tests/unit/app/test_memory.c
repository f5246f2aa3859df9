/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forecast of a run's memory knows what its outputs have beside each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>

#include "photons/app/memory.h"
#include "photons/base/comm.h"
#include "photons/config/parameters.h"
#include "photons/domain/domain.h"

#include <cmocka.h>

#include "support/assert_near.h"

enum { PARTICLES = 100000000 };

/** The peak of a run with halos, particles of several masses, and snapshots in the order of halos; bytes a particle. */
static double peak_bytes(const struct parameters *p, column_set columns) {
  const struct particles s = {.all = PARTICLES, .columns = columns};
  const struct memory_use use = memory_estimate(p, &s);
  return memory_peak(&use) / PARTICLES;
}

static struct parameters parameters_of_halos(void) {
  struct parameters p;
  parameters_default(&p);
  p.ic.source = IC_GADGET;
  p.box.size = 1000.0;
  p.analysis.fof = p.output.snapshots = true;
  p.output.power_spectrum = p.output.images = false;
  p.output.beside = BESIDE_NO;
  p.runtime.memory = MEMORY_FAST;
  return p;
}

/** Halos of several masses have a copy of the light particles and one of the others beside the ordered ones. */
static void test_several_masses(void **state) {
  (void)state;
  struct parameters p = parameters_of_halos();
  const column_set several = (column_set)1 << COLUMN_relative_mass | (column_set)1 << COLUMN_type;
  const column_set all = columns_present(PRESENT_ALWAYS) | columns_present(PRESENT_BLOCK_STEPS) |
                         several;
  const double mass_and_type = 5.0, types_on_their_way = 8.0;
  assert_near(peak_bytes(&p, several) - peak_bytes(&p, 0),
              mass_and_type + (double)columns_bytes(all) + mass_and_type + types_on_their_way,
              0.01);
  p.analysis.fof = false;
  assert_true(peak_bytes(&p, several) - peak_bytes(&p, 0) < mass_and_type + 0.01);
}

/** Accelerations are ordered, too. */
static void test_accelerations(void **state) {
  (void)state;
  struct parameters p = parameters_of_halos();
  const double without = peak_bytes(&p, 0);
  p.output.accelerations = true;
  assert_near(peak_bytes(&p, 0) - without, 12.0, 0.01);
}

/* Of a group of 12 207 particles each of several ranks knows 128 nodes, beside its tables, and what a group takes up
 * elsewhere. On one rank there are no such nodes. */
static void test_nodes_on_the_host(void **state) {
  (void)state;
  struct parameters p = parameters_of_halos();
  p.runtime.group_size = 16384;
  p.time.step = STEP_ADAPTIVE;
  const struct particles s = {.all = PARTICLES};
  const double groups = 8192.0, each = 65e3, nodes = 128.0 * sizeof(struct node),
               table = sizeof(struct group) + 3.0 * sizeof(struct node), ranks = comm_size(),
               several = ranks > 1.0 ? nodes + ranks * table : 0.0;
  assert_near(memory_estimate(&p, &s).tasks / groups, each + several, 1.0);
}

/* On cores each worker has interaction lists of a group of an isolated system, of 32 groups 5 times 650 B of each particle; no
 * more workers than there are groups. */
static void test_lists(void **state) {
  (void)state;
  enum { GROUP = 4096, GROUPS = 32 };
  struct parameters p = parameters_of_halos();
  p.box.boundary = BOUNDARY_ISOLATED;
  p.runtime.group_size = GROUP;
  const struct particles s = {.all = GROUP * GROUPS};
  double tasks[3];
  for (int i = 0; i < 3; i++) {
    p.runtime.workers = (int[]){1, 8, 1000}[i];
    tasks[i] = memory_estimate(&p, &s).tasks;
  }
  const double ranks = comm_size(), group = 5.0 * 650.0 * GROUP;
  assert_near(tasks[1] - tasks[0], 7.0 * ranks * group, 1.0);
  assert_near(tasks[2] - tasks[0], (GROUPS - ranks) * group, 1.0);
}

int main(int argc, char **argv) {
  unsetenv("STARPU_NCPU"); /* STARPU_NCPU would take precedence */
  comm_start(&argc, &argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_several_masses), cmocka_unit_test(test_accelerations),
      cmocka_unit_test(test_nodes_on_the_host), cmocka_unit_test(test_lists)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  comm_end();
  return failures;
}
