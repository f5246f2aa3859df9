/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that are not finite, particles faster than light and displacements of half the box end
 * the run with the particle's id. Given the name of a fault, the program makes that fault and goes
 * on as a run does: tests/runs/impossible_motion_ends_the_run.sh starts it so on several ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "photons/step/step.h"
#include "support/force_set.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#include "support/assert_near.h"
#include "support/failure.h"

/* ---- Kernels ---- */

static const char *const isas[] = {"baseline", "avx2", "avx512"};
enum { ISA_NAMES = 3, MOST = 70 }; /* more than four registers of 16 floats, and a rest */

/** A function: the macro mixes signs. */
static bool finite_number(float a) { return isfinite(a) != 0; }

static float wave(uint32_t i) { return 3.0f * sinf(1.0f + 2.3f * (float)i); }

/** What the kick says of count particles, of which number `at` has `value` among its numbers. */
static struct kick_largest kick(const struct step_kernels *k, uint32_t count, uint32_t at,
                                float value, bool of_momentum) {
  float acceleration[3 * MOST], momentum[3 * MOST];
  for (uint32_t i = 0; i < 3 * count; i++) {
    acceleration[i] = wave(i);
    momentum[i] = wave(i + 1000);
  }
  (of_momentum ? momentum : acceleration)[at] = value;
  return k->kick(count, (struct kick){.push = 0.5f}, acceleration, momentum);
}

/** In every component of every particle, in registers and in the rest. */
static void check_kernel(const struct step_kernels *k) {
  const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
  for (uint32_t count = 1; count <= MOST; count += 23)
    for (uint32_t at = 0; at < 3 * count; at++) {
      for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        assert_false(finite_number(kick(k, count, at, bad[b], false).acceleration));
        assert_false(
            finite_number(kick(k, count, at, bad[b], false).momentum)); /* it has been added */
        assert_false(finite_number(kick(k, count, at, bad[b], true).momentum));
        assert_true(finite_number(kick(k, count, at, bad[b], true).acceleration));
      }
      /* 1e4 beside numbers of 3: the others change the length by less than 1e-6 of it */
      const struct kick_largest a = kick(k, count, at, -1e4f, false);
      assert_near((double)a.acceleration, 1e4, 1e-2);
      assert_near((double)a.momentum, 5e3, 5.0); /* half of it, and its own 3 */
      assert_near((double)kick(k, count, at, 1e4f, true).momentum, 1e4, 5.0);
    }
}

static void kernels_tell_what_is_not_finite(void **state) {
  (void)state;
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select();
  for (int i = 0; i < ISA_NAMES && i <= (int)best; i++) {
    setenv("PHOTONS_ISA", isas[i], 1);
    check_kernel(step_kernels_select());
  }
  unsetenv("PHOTONS_ISA");
}

/* ---- Runs ---- */

enum { SIDE = 12, PARTICLES = SIDE * SIDE * SIDE, BAD = PARTICLES / 2 + 17 };
#define BOX 100.0 /* Mpc/h */

/** A loose grid, so that forces are small; this rank's share. Particle BAD is where a fault goes.
 */
static struct particles grid(void) {
  struct particles s = particles_create_share(PARTICLES, BOX, 1.0);
  const double cell = BOX / SIDE;
  for (size_t i = 0; i < s.count; i++) {
    const size_t all = particles_first(&s) + i,
                 place[3] = {all / SIDE / SIDE, all / SIDE % SIDE, all % SIDE};
    s.id[i] = all + 1;
    for (size_t c = 0; c < 3; c++) {
      const double x = cell * ((double)place[c] + 0.5 + 0.2 * sin((double)(3 * all + c)));
      s.position[c * s.count + i] = position_to_integer(x, BOX);
      s.momentum[c * s.count + i] = 100.0f * sinf((float)(7 * all + c));
    }
  }
  return s;
}

/** Put a value into one number of particle BAD. */
static void spoil(struct nbody *n, bool acceleration, double value) {
  const struct particles *s = &n->domain.particles;
  domain_acquire(&n->domain);
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    for (size_t i = 0; i < b.count; i++)
      if (b.id[i] == BAD) (acceleration ? b.acc : b.p)[1][i] = (float)value;
  }
  domain_release(&n->domain);
}

/** What a fault does, and what the program must say. */
static const struct fault {
  const char *name, *message;
  double value, mass, drift;
  bool acceleration, restart; /* a restart has accelerations and computes none */
} faults[] = {
    {"nan_acceleration", "forces: particle 881 has the acceleration", NAN, 1.0, 0.1, true, true},
    {"infinite_acceleration", "forces: particle 881 has", INFINITY, 1.0, 0.1, true, true},
    {"acceleration_in_a_step", "forces: particle 881 has", -NAN, 1.0, 0.1, true, false},
    {"nan_momentum", "kick: particle 881 has the momentum", NAN, 1.0, 0.1, false, true},
    {"infinite_momentum", "kick: particle 881 has the momentum", -INFINITY, 1.0, 0.1, false, false},
    {"nan_mass", "forces: particle", 0.0, NAN, 0.1, false, false},
    {"infinite_mass", "forces: particle", 0.0, INFINITY, 0.1, false, false},
    /* a = 0.5: momentum a v, so that light has 149896 km/s; the drift is far from half the box */
    {"faster_than_light", "kick: particle 881 has the momentum", 149900.0, 1.0, 1e-6, false, false},
    {"drift_of_half_the_box", "drift: particle 881 with the momentum", 501.0, 1.0, 0.1, false,
     false},
    {"none", "", 100.0, 1.0, 0.1, false, false},
    {"almost_light", "", 149890.0, 1.0, 1e-6, false, false},
    {"drift_of_almost_half_the_box", "", 480.0, 1.0, 0.1, false, false},
};

/** The steps of a run until the fault is seen. */
static void run_fault(void *context) {
  const struct fault *f = context;
  struct parameters p;
  parameters_from_text(
      &p,
      "[box]\nsize = 100\nnpart_side = 12\n[time]\nstep = adaptive\n[gravity]\nmac = geometric\n"
      "[runtime]\ngroup_size = 432\n",
      NULL, 0);
  p.runtime.gpu = GPU_NO;
  engine_start(&p, NULL);
  message_start(&p);
  struct particles particles = grid();
  particles.mass = f->mass;
  struct nbody *n = nbody_create(&p, particles);
  n->step = 3;
  n->a = 0.5;
  if (!f->restart) step_first_forces(n);
  spoil(n, f->acceleration, f->value);
  if (f->restart) step_measure(n);
  step_drift(n, 1e-9, f->drift);
  step_forces(n, 1e-9, NULL, NULL);
  nbody_free(n);
  message_stop();
  engine_stop();
}

static void faults_end_the_run(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct fault f = faults[i];
    print_message("%s\n", f.name);
    if (*f.message)
      expect_failure(run_fault, &f, EXIT_RUN_FAILED, f.message);
    else
      expect_warning(run_fault, &f, "");
  }
}

static int make_fault(const char *name) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    if (strcmp(faults[i].name, name) == 0) {
      struct fault f = faults[i];
      run_fault(&f);
      comm_end();
      return 0;
    }
  return EXIT_BAD_USAGE;
}

int main(int argc, char **argv) {
  comm_start(&argc, &argv);
  if (argc > 1) return make_fault(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_tell_what_is_not_finite),
      cmocka_unit_test(faults_end_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
