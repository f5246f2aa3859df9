/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of isolated systems: two bodies on a hyperbolic orbit outgrow it several times and keep
 * to Kepler's orbit; where the softening would not be resolved, the run ends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/step/block_step.h"
#include "photons/step/step.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#include "support/failure.h"

#define SIDE 0x1p-8 /* of the first frame: 3.9 kpc */

static void positions_are_kept(void **state) {
  (void)state;
  assert_int_equal(position_in_doubled_frame(FRAME_MIDDLE), FRAME_MIDDLE);
  const uint32_t farthest = UINT32_C(1) << 30; /* L/4 */
  for (uint32_t x = 0; x < 16; x++) {
    const uint32_t away = x < 8 ? x : farthest - x,
                   up = position_in_doubled_frame(FRAME_MIDDLE + away);
    assert_true(fabs((double)(up - FRAME_MIDDLE) - 0.5 * away) <= 0.5);
    assert_true(away % 2 == 1 || up - FRAME_MIDDLE == away / 2);
    /* The other side is the mirror image: rounding moves nothing on average. */
    assert_int_equal(FRAME_MIDDLE - position_in_doubled_frame(FRAME_MIDDLE - away),
                     up - FRAME_MIDDLE);
  }
}

/* ---- Two bodies ---- */

#define PERIAPSIS 1e-3 /* Mpc */
#define ECCENTRICITY 3.0
#define MASS 1.0                                                      /* of both together */
static const double along[2][3] = {{1.0, 0.0, 0.0}, {0.0, 0.6, 0.8}}; /* the plane of the orbit */

/** The relative position in the plane of the orbit, t after periapsis, Mpc/(km/s). */
static void kepler(double t, double x[2]) {
  const double a = PERIAPSIS / (ECCENTRICITY - 1.0);
  const double mean = t * sqrt(GRAVITY * MASS / (a * a * a));
  double f = asinh(mean / ECCENTRICITY);
  for (int k = 0; k < 50; k++)
    f -= (ECCENTRICITY * sinh(f) - f - mean) / (ECCENTRICITY * cosh(f) - 1.0);
  x[0] = a * (ECCENTRICITY - cosh(f));
  x[1] = a * sqrt(ECCENTRICITY * ECCENTRICITY - 1.0) * sinh(f);
}

static struct parameters parameters(enum step_kind step, double softening_kpc) {
  struct parameters p;
  parameters_default(&p);
  p.box.boundary = BOUNDARY_ISOLATED;
  p.gravity.softening = softening_kpc;
  p.gravity.softening_kernel = SOFTENING_SPLINE; /* Newton's law beyond 2.8 softening lengths */
  p.time.step = step;
  p.time.eta = 1.0; /* 0.1 Myr and less at periapsis, where 1 rad takes 2.4 Myr */
  return p;
}

static struct nbody *two_bodies(const struct parameters *p) {
  struct particles s = particles_create(2, SIDE, 0.5 * MASS);
  const double speed = sqrt(GRAVITY * MASS * (1.0 + ECCENTRICITY) / PERIAPSIS);
  for (size_t i = 0; i < 2; i++) {
    const double half = i ? 0.5 : -0.5;
    for (size_t c = 0; c < 3; c++) {
      s.position[c * 2 + i] = position_to_integer(0.5 * SIDE + half * PERIAPSIS * along[0][c],
                                                  SIDE);
      s.momentum[c * 2 + i] = (float)(half * speed * along[1][c]);
    }
    s.id[i] = i + 1;
  }
  struct nbody *n = nbody_create(p, s);
  step_first_forces(n);
  return n;
}

/** A step of this many Myr from a. */
static double advance(struct nbody *n, const struct parameters *p, double a, double myr) {
  const struct cosmology c = cosmology_from(p);
  const double next = a + cosmology_time(myr), middle = 0.5 * (a + next);
  if (p->time.step == STEP_BLOCK) {
    struct base_step b = block_open(n, p, &c, a, next);
    while (block_advance(n, &b)) {}
    block_close(n, &b, NULL, NULL);
  } else {
    step_drift(n, cosmology_kick(&c, a, middle), cosmology_drift(&c, a, next));
    step_forces(n, cosmology_kick(&c, middle, next), NULL, NULL);
  }
  return next;
}

/** Error of the separation, over its length. */
static double orbit_error(struct nbody *n, double myr) {
  const struct particles *s = &n->domain.particles;
  double expected[2], error = 0.0, length = 0.0;
  kepler(myr * MYR, expected);
  domain_acquire(&n->domain);
  const uint32_t first = s->id[0] == 1 ? 0 : 1;
  for (size_t c = 0; c < 3; c++) {
    const uint32_t *x = s->position + 2 * c;
    const double found = position_difference(x[1 - first], x[first]) * (s->box / POSITION_TURN),
                 d = expected[0] * along[0][c] + expected[1] * along[1][c];
    error += (found - d) * (found - d);
    length += d * d;
  }
  domain_release(&n->domain);
  return sqrt(error / length);
}

/** @param tolerance  four times what was found: the error of steps of this length at periapsis, far
 *                    above the rounding of positions */
static void follow_orbit(const struct parameters *p, double myr, int steps, double tolerance) {
  struct nbody *n = two_bodies(p);
  double a = 0.0, worst = 0.0;
  for (int k = 1; k <= steps; k++) {
    a = advance(n, p, a, myr);
    worst = fmax(worst, orbit_error(n, k * myr));
  }
  printf("the frame grew to %g times its side; the orbit is wrong by %.2g\n",
         n->domain.particles.box / SIDE, worst);
  assert_true(n->domain.particles.box >= 16.0 * SIDE);
  assert_true(worst < tolerance);
  nbody_free(n);
}

static void hyperbolic_orbit_outgrows_the_frame(void **state) {
  (void)state;
  const struct parameters block = parameters(STEP_BLOCK, 1e-3),
                          fixed = parameters(STEP_FIXED, 1e-3);
  follow_orbit(&block, 4.0, 15, 1e-3);
  follow_orbit(&fixed, 0.1, 600, 1e-3);
  struct parameters of_type = parameters(STEP_BLOCK, -1.0); /* not given */
  of_type.gravity.softening_type[1] = 1e-3;
  follow_orbit(&of_type, 4.0, 15, 1e-3);
}

/* ---- Resolution ---- */

static void outgrow_resolution(void *softening_kpc) {
  const struct parameters p = parameters(STEP_BLOCK, *(const double *)softening_kpc);
  start_starpu_for_tests();
  struct nbody *n = two_bodies(&p);
  for (double k = 0, a = 0.0; k < 10; k++) a = advance(n, &p, a, 4.0);
  nbody_free(n);
  engine_stop();
}

static void unresolved_softening_ends_the_run(void **state) {
  (void)state;
  double softening = 1e-5; /* kpc: more than a millionth of 7.8 kpc, and less than that of 15.6 kpc */
  expect_failure(outgrow_resolution, &softening, EXIT_RUN_FAILED,
                 "the farthest of them with the ids 1, 2: a frame of 15.625 kpc does not resolve");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_are_kept),
      cmocka_unit_test(hyperbolic_orbit_outgrows_the_frame),
  };
  const struct CMUnitTest failures[] = {cmocka_unit_test(unresolved_softening_ends_the_run)};
  return cmocka_run_group_tests(failures, NULL, NULL) + cmocka_run_group_tests(tests, start, stop);
}
