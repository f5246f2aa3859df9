/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Into how many parts long tasks of cores are divided, by the size of groups. Calls of parts_run() come to this file (--wrap),
 * which notes them. One worker runs all tasks, so that no worker is idle. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/gas/gas_ic.h"
#include "photons/runtime/parts.h"
#include "photons/step/step.h"
#include "support/starpu_fixture.h"

#include <cmocka.h>

/** Numbers of parts of a task. */
static struct note {
  const char *stage;
  uint32_t owner, parts;
} notes[1024];
static uint32_t note_count;

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): names of the linker */
void __real_parts_run(uint32_t n, void (*function)(void *context, uint32_t i), void *context);
void __wrap_parts_run(uint32_t n, void (*function)(void *context, uint32_t i), void *context);

void __wrap_parts_run(uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  struct note *note = &notes[note_count++ % (sizeof notes / sizeof *notes)];
  const struct stage *stage = task_stage(&note->owner);
  note->stage = stage ? stage_name(stage) : "";
  note->parts = n;
  __real_parts_run(n, function, context);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/** The next note of a stage, from note *i on, which is then behind it; NULL: there is none. */
static const struct note *next_note(const char *stage, uint32_t *i) {
  assert_true(note_count <= sizeof notes / sizeof *notes);
  while (*i < note_count)
    if (strcmp(notes[(*i)++].stage, stage) == 0) return &notes[*i - 1];
  return NULL;
}

/** The parts of a group by the work that was counted. */
static uint32_t walk_parts(const struct group_expansions *e, uint32_t leaves) {
  (void)e;
  (void)leaves;
  return 40; /* 8 of the group itself, 32 of other sources */
}
static uint32_t p2p_parts(const struct group_expansions *e, uint32_t leaves) {
  const uint32_t parts = 1 + (uint32_t)(e->lists.walked.pairs / 500000);
  return parts < leaves ? parts : leaves;
}
static uint32_t m2l_parts(const struct group_expansions *e, uint32_t leaves) {
  if (e->lists.walked.interactions == 0) return 0;
  const uint32_t parts = 1 + (uint32_t)(e->lists.walked.interactions / 16000), most = leaves / 4;
  return parts < most ? parts : most; /* 8 nodes or more in each */
}

/** The last task of a stage of each group has the right number of parts; of a group without work there is none.
 * @param parts_of  0: no work @return the parts of all groups */
static uint32_t check_stage(const struct nbody *n, const char *stage,
                            uint32_t (*parts_of)(const struct group_expansions *e,
                                                 uint32_t leaves)) {
  const uint32_t groups = n->domain.group_count;
  uint32_t all = 0, i = 0, parts[groups];
  memset(parts, 0, sizeof parts);
  for (const struct note *note; (note = next_note(stage, &i));) {
    assert_true(note->owner < groups);
    parts[note->owner] = note->parts;
  }
  for (uint32_t g = 0; g < groups; g++) {
    const uint32_t expected = parts_of(&n->short_range.groups[g], 1u << n->domain.depth);
    if (expected > 0) assert_int_equal(parts[g], expected);
    all += expected;
  }
  return all;
}

/* 32768 clustered particles in groups of so many. */
static void short_range(void **state) {
  (void)state;
  struct force_set set = force_set_open(force_set_path("late.hdf5"));
  for (uint32_t size = 2048; size <= 32768; size *= 16) {
    char group_size[48];
    snprintf(group_size, sizeof group_size, "runtime.group_size=%u", size);
    struct parameters p;
    const struct particles s = force_set_particles(
        &set, &p, (const char *const[]){group_size, "runtime.leaf_size=8", "gravity.pm_grid=16"},
        3);
    struct nbody *n = nbody_create(&p, s);
    note_count = 0;
    step_first_forces(n);
    assert_int_equal(n->domain.group_count, 32768 / size);
    const uint32_t walks = check_stage(n, "walk", walk_parts),
                   sums = check_stage(n, "p2p", p2p_parts),
                   expansions = check_stage(n, "m2l", m2l_parts);
    print_message("groups of %u: %u parts of walks, %u of p2p, %u of m2l\n", size, walks, sums,
                  expansions);
    assert_int_equal(walks, 40 * n->domain.group_count);
    assert_true(sums > n->domain.group_count && expansions > n->domain.group_count);
    nbody_free(n);
  }
  force_set_close(&set);
}

/* A root level of 27 groups of 16^3 cells, in batches of so many. */
static void gas(void **state) {
  (void)state;
  enum { GROUPS = 27 };
  for (uint32_t batch = 1; batch <= 16; batch *= 4) {
    char text[256];
    struct parameters p;
    snprintf(text, sizeof text,
             "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = 48, 48, 48\nbatch = "
             "%u\n[time]\nend = 1\n",
             batch);
    parameters_from_text(&p, text, NULL, 0);
    const struct gas_ic ic = gas_ic_make(&p);
    struct gas *g = gas_create(&p);
    gas_begin(g, &ic);
    note_count = 0;
    gas_step(g, 0.1 * gas_measure(g).longest_step);
    uint32_t tasks = 0, parts = 0, i = 0;
    for (const struct note *note; (note = next_note("gas_advance", &i)); tasks++) {
      assert_true(note->parts == batch || note->parts == GROUPS % batch);
      parts += note->parts;
    }
    print_message("batches of %u: %u parts of %u tasks\n", batch, parts, tasks);
    assert_true(parts > 0 && parts % GROUPS == 0); /* all groups in each sweep */
    assert_int_equal(tasks, parts / GROUPS * ((GROUPS + batch - 1) / batch));
    gas_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(short_range), cmocka_unit_test(gas)};
  setenv("STARPU_NCPU", "1", 1);
  return cmocka_run_group_tests(tests, start, stop);
}
