/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the mesh acts in a base step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/config/parameters.h"
#include "photons/step/policy.h"
#include "support/force_set.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

enum { SIDE = 64, PARTICLES = SIDE * SIDE * SIDE, FIRST = 64 };

/** A box whose first mesh has FIRST cells a side. */
static struct parameters box(const char *step, int kicks) {
  char text[200];
  snprintf(text, sizeof text,
           "[box]\nsize = 50\nnpart_side = %d\n[gravity]\npm_grid = %d\n[time]\nstep = %s\n"
           "steps = 10\nmesh_kicks = %d\n",
           SIDE, FIRST, step, kicks);
  struct parameters p;
  parameters_from_text(&p, text, NULL, 0);
  return p;
}

static uint32_t forces(const char *step, int kicks, uint32_t cells) {
  const struct parameters p = box(step, kicks);
  return mesh_policy_forces(&p, PARTICLES, cells);
}

/** The first mesh acts once, however many kicks finer ones have; a finer mesh as often as it is finer times the
 * kicks, rounded up to a power of 2. */
static void finer_meshes_act_more_often(void **state) {
  (void)state;
  static const struct {
    int kicks;
    uint32_t cells, forces;
  } cases[] = {{1, FIRST, 1}, {2, FIRST, 1}, {16, FIRST, 1}, {1, 80, 2},   {1, 128, 2},
               {1, 160, 4},   {2, 80, 4},    {2, 128, 4},    {2, 160, 8},  {3, 80, 4},
               {3, 128, 8},   {4, 128, 8},   {16, 128, 32},  {2, 1024, 32}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(forces("block", cases[i].kicks, cases[i].cells), cases[i].forces);
}

/** Steps that all particles share have the mesh's force at their ends; isolated systems have no mesh. */
static void other_steps_have_one_force(void **state) {
  (void)state;
  assert_int_equal(forces("fixed", 2, 128), 1);
  assert_int_equal(forces("block", 2, 0), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finer_meshes_act_more_often),
      cmocka_unit_test(other_steps_have_one_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
