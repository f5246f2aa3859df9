/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the mesh acts in a base step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/step/policy.h"
#include "support/force_set.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

enum { SIDE = 64, PARTICLES = SIDE * SIDE * SIDE, FIRST = 64 };

/** A box of a side in Mpc/h, whose first mesh has FIRST cells a side. */
static struct parameters box(const char *step, double size, double crossing) {
  char text[250];
  snprintf(text, sizeof text,
           "[box]\nsize = %g\nnpart_side = %d\n[gravity]\npm_grid = %d\n[time]\nstep = %s\n"
           "steps = 10\nmax_dlna = 0.0125\nmesh_crossing = %g\n",
           size, SIDE, FIRST, step, crossing);
  struct parameters p;
  parameters_from_text(&p, text, NULL, 0);
  return p;
}

/** At z = 0. */
static uint32_t forces(const char *step, double size, double crossing, uint32_t cells) {
  const struct parameters p = box(step, size, crossing);
  const struct cosmology c = cosmology_from(&p);
  return mesh_policy_forces(&p, &c, 1.0, PARTICLES, cells);
}

/** In a base step of 0.0125 matter at 300 km/s moves by 0.0375 Mpc/h at z = 0: 0.075 cells of 0.5 Mpc/h. A finer mesh
 * acts at least as often as it is finer and at most four times as often, the first mesh once. */
static void meshes_act_before_their_cells_are_crossed(void **state) {
  (void)state;
  static const struct {
    double size, crossing;
    uint32_t cells, forces;
  } cases[] = {{64, 10, FIRST, 1},  {64, 0.001, FIRST, 1}, {64, 10, 80, 2},
               {64, 10, 128, 2},    {64, 10, 160, 4},      {64, 0.076, 128, 2},
               {64, 0.036, 128, 4}, {32, 0.038, 128, 4},   {32, 0.037, 128, 8},
               {6.4, 0.125, 80, 4}, {6.4, 0.125, 128, 8},  {64, 0.001, 128, 8},
               {64, 0.001, 160, 16}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(forces("block", cases[i].size, cases[i].crossing, cases[i].cells),
                     cases[i].forces);
}

/** At z = 1 H is 1.79 times as large and a is a half, so that matter crosses 1.12 times as many cells. */
static void early_cells_are_smaller(void **state) {
  (void)state;
  const struct parameters p = box("block", 32, 0.079);
  const struct cosmology c = cosmology_from(&p);
  assert_int_equal(mesh_policy_forces(&p, &c, 1.0, PARTICLES, 128), 2);
  assert_int_equal(mesh_policy_forces(&p, &c, 0.5, PARTICLES, 128), 4);
}

/** Steps that all particles share have the mesh's force at their ends; isolated systems have no mesh. */
static void other_steps_have_one_force(void **state) {
  (void)state;
  assert_int_equal(forces("fixed", 6.4, 0.125, 128), 1);
  assert_int_equal(forces("block", 6.4, 0.125, 0), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_act_before_their_cells_are_crossed),
      cmocka_unit_test(early_cells_are_smaller),
      cmocka_unit_test(other_steps_have_one_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
