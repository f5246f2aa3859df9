/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The net force and the net torque of accelerations, and their removal (net_force.h), without a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "photons/step/net_force.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

/** Accelerations at random with a net force and a torque.
 * @param flat  along the axes: 1, or less */
static void put_pulls(struct net_force_arrays *p, uint32_t *position, float *mass,
                      const double flat[3]) {
  seed = 5;
  for (size_t i = 0; i < p->count; i++) {
    mass[i] = (float)(0.5 + uniform());
    for (size_t c = 0; c < 3; c++) {
      const double turn = c == 0 ? 0.1 : 0.0, away = flat[c] * (uniform() - 0.3);
      position[c * p->count + i] = FRAME_MIDDLE + (uint32_t)(int32_t)(1e8 * away);
      p->acceleration[c * p->count + i] = (float)(uniform() - 0.5 + turn);
    }
  }
}

static struct net_force_sums sums_of(const struct net_force_arrays *p) {
  struct net_force_sums sums = {0};
  for (size_t i = 0; i < p->count; i++) net_force_add(p, i, &sums);
  return sums;
}

static double part_left(const double of[3], double size) {
  return sqrt(net_force_square(of)) / size;
}

/** Of particles in space and in a plane both go. On a line no turn changes the torque about it. */
static void net_forces_are_removed(void **state) {
  (void)state;
  static const double flat[][3] = {{1.0, 1.0, 1.0}, {1.0, 1.0, 0.0}, {0.0, 1.0, 0.0}};
  enum { COUNT = 1000 };
  static uint32_t position[3 * COUNT];
  static float acceleration[3 * COUNT], before[3 * COUNT], mass[COUNT];
  struct net_force_arrays p = {COUNT, 1e-9, position, mass, acceleration};
  for (size_t k = 0; k < sizeof flat / sizeof *flat; k++) {
    put_pulls(&p, position, mass, flat[k]);
    memcpy(before, acceleration, sizeof before);
    const struct net_force_sums sums = sums_of(&p);
    const struct net_force_change change = net_force_change_of(&sums);
    for (size_t i = 0; i < COUNT; i++) net_force_remove_from(&p, i, &change);
    const struct net_force_sums left = sums_of(&p);
    assert_true(part_left(sums.force, sums.force_size) > 0.01);
    assert_true(part_left(left.force, left.force_size) < 1e-8);
    if (k < 2) {
      assert_true(part_left(sums.torque, sums.torque_size) > 0.01);
      assert_true(part_left(left.torque, left.torque_size) < 1e-8);
    }
    for (size_t i = 0; i < 3 * COUNT; i++) assert_true(isfinite(acceleration[i]));
  }
}

static void require_no_change(const struct net_force_arrays *p) {
  const struct net_force_sums sums = sums_of(p);
  const struct net_force_change change = net_force_change_of(&sums);
  for (int c = 0; c < 3; c++) assert_true(change.push[c] == 0.0 && change.turn[c] == 0.0);
}

/** No particles, and one whose acceleration is not finite: the others do not take part in its fault. */
static void faults_stay_where_they_are(void **state) {
  (void)state;
  enum { COUNT = 10 };
  static uint32_t position[3 * COUNT];
  float acceleration[3 * COUNT] = {0}, mass[COUNT];
  struct net_force_arrays p = {COUNT, 1e-9, position, mass, acceleration};
  put_pulls(&p, position, mass, (const double[]){1.0, 1.0, 1.0});
  for (int k = 0; k < 2; k++) {
    p.acceleration[4] = k ? NAN : INFINITY;
    require_no_change(&p);
  }
  p.count = 0;
  require_no_change(&p);
}

/** Of one particle's inertia nothing is left but rounding, of either sign. */
static void one_particle_does_not_turn(void **state) {
  (void)state;
  static uint32_t position[3];
  static float acceleration[3], mass;
  const struct net_force_arrays p = {1, 1e-9, position, &mass, acceleration};
  seed = 1;
  for (int draw = 0; draw < 1000; draw++) {
    mass = (float)(0.5 + uniform());
    for (int c = 0; c < 3; c++) {
      position[c] = FRAME_MIDDLE + (uint32_t)(int32_t)(1e9 * (uniform() - 0.5));
      acceleration[c] = (float)(1e-3 * (uniform() - 0.5));
    }
    const struct net_force_sums sums = sums_of(&p);
    const struct net_force_change change = net_force_change_of(&sums);
    for (int c = 0; c < 3; c++) {
      assert_true(isfinite(change.push[c]));
      assert_true(change.turn[c] == 0.0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(net_forces_are_removed),
                                     cmocka_unit_test(faults_stay_where_they_are),
                                     cmocka_unit_test(one_particle_does_not_turn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
