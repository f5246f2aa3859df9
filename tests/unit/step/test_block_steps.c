/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block time steps: forces on packed targets, the choice of rungs, and what the scheme must keep:
 * its order, its reversibility at frozen rungs, and global steps where all particles are on rung 0.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "photons/step/block_step.h"
#include "photons/step/codelets.h"
#include "photons/step/step.h"
#include "photons/tree/codelets.h"
#include "src/step/forces.h"
#include "support/force_set.h"
#include "support/starpu_fixture.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

#include "support/assert_near.h"

static const char *const isas[] = {"baseline", "avx2", "avx512"};

/** Call a test with the kernels of each instruction set of this processor. */
static void on_each_isa(void (*test)(void)) {
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select();
  for (int i = 0; i < 3 && i <= (int)best; i++) {
    setenv("PHOTONS_ISA", isas[i], 1);
    test();
  }
  unsetenv("PHOTONS_ISA");
}

/* ---- Particles ---- */

/** Three of four particles in a sphere of this radius, densest at its centre, the others anywhere.
 */
static struct particles clump(size_t count, double box, double radius) {
  struct particles s = particles_create(count, box, 1.0);
  seed = 7;
  for (size_t i = 0; i < count; i++) {
    double x[3], r2;
    do {
      r2 = 0.0;
      for (int c = 0; c < 3; c++) x[c] = 2.0 * uniform() - 1.0, r2 += x[c] * x[c];
    } while (r2 > 1.0);
    for (size_t c = 0; c < 3; c++)
      s.position[c * count + i] = position_to_integer(
          i % 4 == 0 ? uniform() * box : 0.3 * box + radius * r2 * x[c], box);
    s.id[i] = i + 1;
  }
  return s;
}

/** For each particle i of each block b. */
#define FOR_PARTICLES(s, b, i)                                                                 \
  for (size_t block = 0; block < (s)->blocks; block++)                                         \
    for (struct particle_block b = particles_block((s), block), *once = &b; once; once = NULL) \
      for (size_t i = 0; i < b.count; i++)

/** Put particles on rungs: rung_of() their index in memory. */
static void set_rungs(struct nbody *n, uint8_t (*rung_of)(size_t i)) {
  struct particles *s = &n->domain.particles;
  domain_acquire(&n->domain);
  for (size_t i = 0; i < s->count; i++) s->rung[i] = rung_of(i);
  domain_release(&n->domain);
}

/* ---- Forces on packed targets ---- */

enum { TARGETS_BOX = 100, SOME = 3000, ACTIVE_RUNG = 5 };

static size_t stride; /* every so-manieth particle is active */
static uint8_t every(size_t i) { return i % stride == 0 ? ACTIVE_RUNG : ACTIVE_RUNG - 1; }

static void choose_all(struct nbody *n, struct group *g, void *context) {
  (void)context;
  targets_all(&n->short_range, g, true);
}
static void choose_active(struct nbody *n, struct group *g, void *context) {
  (void)context;
  targets_pack(&n->short_range, g, ACTIVE_RUNG, g->targets);
}

static const void *acquire(starpu_data_handle_t handle) {
  assert_int_equal(starpu_data_acquire(handle, STARPU_R), 0);
  return starpu_data_get_local_ptr(handle);
}

/** Copy the forces on the targets of all groups to force[3 * particle], by index in memory, and
 * release the targets. */
static void take_forces(struct nbody *n, float *force) {
  FOR_GROUPS(&n->domain, g) {
    const struct targets *t = &expansions_of(&n->short_range, g)->targets;
    if (g->targets == 0) continue;
    const size_t first = particles_block(&n->domain.particles, g->index).first;
    const float *a = acquire(t->acceleration);
    const uint32_t *index = t->packed ? acquire(t->index) : NULL;
    for (uint32_t j = 0; j < t->count; j++)
      for (size_t c = 0; c < 3; c++)
        force[3 * (first + (index ? index[j] : j)) + c] = a[c * t->count + j];
    if (index) starpu_data_release(t->index);
    starpu_data_release(t->acceleration);
    targets_release(&n->short_range, g);
  }
}

/** Short-range forces on the active particles, or on all; of the others they are 0. */
static float *forces(struct nbody *n, bool packed) {
  const struct particles *s = &n->domain.particles;
  float *force = calloc(3 * s->count, sizeof *force);
  assert_non_null(force);
  FOR_GROUPS(&n->domain, g) {
    const struct particle_block b = particles_block(s, g->index);
    g->targets = 0;
    g->moved = 0.0f;
    for (size_t i = 0; i < b.count; i++) g->targets += !packed || every(b.first + i) == ACTIVE_RUNG;
  }
  domain_find_neighbours(&n->domain);
  forces_submit(n, false, packed ? choose_active : choose_all, NULL);
  message_wait();
  take_forces(n, force);
  return force;
}

/** The forces on active particles, against those on all; `shift` compares with other particles.
 * @return rms difference over rms force */
static double difference(const float *some, const float *all, size_t count, size_t shift) {
  double d2 = 0.0, a2 = 0.0;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      if (every(i) != ACTIVE_RUNG) {
        assert_true(some[3 * i + c] == 0.0f); /* nobody else's force was computed */
        continue;
      }
      const double a = (double)all[3 * ((i + shift) % count) + c];
      d2 += ((double)some[3 * i + c] - a) * ((double)some[3 * i + c] - a);
      a2 += (double)all[3 * i + c] * (double)all[3 * i + c];
    }
  return sqrt(d2 / a2);
}

/** @param expansions  of the forces; without them all pairs are summed, and the same ones */
static void check_targets(struct nbody *n, bool expansions) {
  static const size_t strides[] = {1, 2, 9, 100, SOME};
  const size_t count = n->domain.particles.count;
  short_range_expansions(&n->short_range, expansions);
  float *all = forces(n, false);
  for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
    stride = strides[k];
    set_rungs(n, every);
    float *some = forces(n, true);
    /* The order of float sums differs: some 1e-7 for each of 1000 terms, which partly cancel. With
     * expansions, other pairs of nodes use them, with the accuracy of forces. */
    const double error = difference(some, all, count, 0);
    print_message("%s, every %4zu: %.1e\n", expansions ? "expansions" : "pairs", stride, error);
    assert_true(error <= (expansions ? 1e-3 : 1e-5));
    assert_true(difference(some, all, count, 1) > 0.1); /* it could have failed */
    free(some);
  }
  free(all);
}

static void targets_on_this_isa(void) {
  struct parameters p;
  parameters_from_text(&p,
                       "[box]\nsize = 100\nnpart_side = 8\n[time]\nstep = block\n"
                       "[gravity]\nsoftening = 100\n[runtime]\ngroup_size = 200\nleaf_size = 8\n",
                       NULL, 0);
  struct nbody *n = nbody_create(&p, clump(SOME, TARGETS_BOX, 10.0));
  assert_true(n->domain.group_count > 4);
  step_first_forces(n);
  step_refit(n);
  check_targets(n, false);
  check_targets(n, true);
  nbody_free(n);
}

static void targets_feel_what_all_feel(void **state) {
  (void)state;
  on_each_isa(targets_on_this_isa);
}

/* ---- The choice of rungs ---- */

enum { MOST = 70 };

/** Rung k is deep enough up to |a|^2 = 4^k. */
static struct rung_kick kick_with_limits(enum rung_choice choice) {
  struct rung_kick k = {.choice = choice, .deepest = 8};
  for (int r = 0; r < RUNGS; r++) {
    k.limit[r] = powf(4.0f, (float)r);
    k.close[r] = 1.0f / (float)(1 << r);
    k.open[r] = 3.0f / (float)(1 << r);
  }
  return k;
}

/** Where the tide is not known. */
static uint8_t rung_after(const struct rung_kick *k, uint8_t rung, float before2, float now2) {
  return next_rung(k, rung, before2, now2, HUGE_VALF);
}

static void rungs_follow_their_rules(void **state) {
  (void)state;
  struct rung_kick k = kick_with_limits(RUNG_BY_ACCELERATION);
  const float same = 100.0f; /* |a|^2 before: 0 counts as unknown */
  assert_int_equal(rung_after(&k, 7, same, 0.5f), 0);
  assert_int_equal(rung_after(&k, 0, same, 1.0f), 0); /* the limit itself is short enough */
  assert_int_equal(rung_after(&k, 0, same, 1.001f), 1);
  assert_int_equal(rung_after(&k, 0, same, 60.0f), 3); /* whatever the acceleration was before */
  assert_int_equal(rung_after(&k, 0, same, 1e30f), 8);
  assert_int_equal(rung_after(&k, 3, 0.0f, INFINITY), 8);

  k.choice = RUNG_DEEPENS;
  assert_int_equal(rung_after(&k, 5, 1.0f, 1.0f), 5); /* never coarser */
  assert_int_equal(rung_after(&k, 2, 60.0f, 60.0f), 3);
  assert_int_equal(rung_after(&k, 2, 0.0f, 60.0f), 3);
  /* Twice the |a| of before: twice as much again is expected, |a|^2 = 120 in the middle. */
  assert_int_equal(rung_after(&k, 2, 15.0f, 60.0f), 4);
  assert_int_equal(rung_after(&k, 2, 1e-9f, 60.0f), 5); /* 16 times at most */
  assert_int_equal(rung_after(&k, 2, 1e9f, 120.0f), 3); /* half at least: 60 */

  k.choice = RUNG_FOLLOWS;
  assert_int_equal(rung_after(&k, 5, 1.0f, 1.0f), 4); /* one coarser at a time */
  assert_int_equal(rung_after(&k, 0, 1.0f, 1.0f), 0);
  assert_int_equal(rung_after(&k, 3, 60.0f, 60.0f), 3);
  assert_int_equal(rung_after(&k, 1, 300.0f, 300.0f), 5);

  k.choice = RUNG_SHIFTS;
  k.shift = 2;
  assert_int_equal(rung_after(&k, 3, 1.0f, 1e9f), 5);
  assert_int_equal(rung_after(&k, 7, 1.0f, 1.0f), 8);
  k.shift = -2;
  assert_int_equal(rung_after(&k, 3, 1.0f, 1.0f), 1);
  assert_int_equal(rung_after(&k, 1, 1.0f, 1.0f), 0);

  k.choice = RUNG_STAYS;
  assert_int_equal(rung_after(&k, 3, 1.0f, 1e9f), 3);
}

/** What a black hole at 0 asks of a particle at (100, 0, 0), whose time sqrt(d^3/(G M)) is 1000, of which a step
 * may have a half. @param velocity  along x */
static struct pair_demand demand_at_100(uint32_t x, float velocity, float now2) {
  static const struct holes holes = {.count = 1, .rung = 5, .hole = {{.relative_mass = 1.0f}}};
  struct rung_kick k = kick_with_limits(RUNG_DEEPENS);
  const uint32_t position[3] = {x, 0, 0};
  const float p[3] = {velocity, 0.0f, 0.0f}, massless = 0.0f;
  k.pair_step = 4000.0;
  k.eta_pair = 0.5;
  const struct rung_arrays a = {.count = 1,
                                .active = 1,
                                .holes = &holes,
                                .position = position,
                                .mass = &massless,
                                .units = {.length = 1.0, .mass = 1.0}};
  return pairs_demand(&k, &a, 0, p, now2);
}

static void rungs_follow_pairs(void **state) {
  (void)state;
  const float pull2 = 1e-8f;
  assert_int_equal(demand_at_100(100, 0.0f, pull2).rung, 3); /* steps of 500 */
  assert_int_equal(demand_at_100(101, 0.0f, pull2).rung, 3);
  assert_int_equal(demand_at_100(99, 0.0f, pull2).rung, 4);
  assert_int_equal(demand_at_100(100, -0.05f, pull2).rung, 4); /* it will be nearer, */
  assert_int_equal(demand_at_100(100, 0.05f, pull2).rung, 3);  /* or farther */
  assert_int_equal(demand_at_100(100, 0.3f, pull2).rung, 5);   /* it passes in 333 */
  assert_true(demand_at_100(100, 0.0f, 3.9f * pull2).held);
  assert_false(demand_at_100(100, 0.0f, 4.1f * pull2).held);
  assert_int_equal(demand_at_100(0, 0.0f, 1.0f).rung, 5); /* the black hole itself: as the others */
  assert_true(demand_at_100(0, 0.0f, 1.0f).held);

  struct rung_kick k = kick_with_limits(RUNG_DEEPENS);
  k.top = 2;
  assert_int_equal(rung_before(&k, 4, false), 4);
  assert_int_equal(rung_before(&k, 4, true), 3);
  assert_int_equal(rung_before(&k, 2, true), 2);
}

static void rungs_follow_rates(void **state) {
  (void)state;
  struct rung_kick k = kick_with_limits(RUNG_BY_PAIRS);
  k.pair_step = 8.0;
  k.eta_pair = 0.25;
  assert_int_equal(rung_of_rate(&k, 0, 0.0f), 0);
  assert_int_equal(rung_of_rate(&k, 0, 0.125f), 0); /* a step of 8 is short enough */
  assert_int_equal(rung_of_rate(&k, 0, 0.126f), 1);
  assert_int_equal(rung_of_rate(&k, 2, 0.126f), 2); /* never coarser than asked before */
  assert_int_equal(rung_of_rate(&k, 0, 1e30f), 8);

  /* The acceleration has changed by a part of it over the last step, without getting larger: a step may have
   * half of it, twice eta_pair. */
  k.top = 1;
  assert_int_equal(rung_of_change(&k, 3, 0.25f, 1.0f, 1.0f), 3);
  assert_int_equal(rung_of_change(&k, 3, 0.24f * 16.0f, 1.0f, 1.0f), 5);
  assert_int_equal(rung_of_change(&k, 5, 0.25f / 17.0f, 1.0f, 1.0f), 3); /* coarser, */
  assert_int_equal(rung_of_change(&k, 3, 1e-9f, 1.0f, 1.0f), 1);         /* where steps may begin */
  assert_int_equal(rung_of_change(&k, 3, 0.24f, 1.0f, 4.0f), 3);
  assert_int_equal(rung_of_change(&k, 3, 0.24f * 4.0f, 1.0f, 4.0f), 4); /* it goes on to grow */
  assert_int_equal(rung_of_change(&k, 3, 0.0f, 0.0f, 0.0f), 1);         /* nothing pulls */
}

/** Of the acceleration and the tide the one that allows the longer step decides. */
static void rungs_follow_tides(void **state) {
  (void)state;
  struct rung_kick k = kick_with_limits(RUNG_BY_ACCELERATION);
  const float same = 100.0f, strong = 1e30f;
  assert_int_equal(next_rung(&k, 0, same, 60.0f, 0.0f), 3); /* no limits: acceleration alone */
  for (int r = 0; r < RUNGS; r++) k.tide[r] = powf(4.0f, (float)r);
  assert_int_equal(next_rung(&k, 7, same, strong, 0.5f), 0);
  assert_int_equal(next_rung(&k, 7, same, 0.5f, strong), 0);
  assert_int_equal(next_rung(&k, 0, same, strong, 60.0f), 3);
  assert_int_equal(next_rung(&k, 0, same, strong, NAN), 8);

  k.choice = RUNG_DEEPENS;
  assert_int_equal(next_rung(&k, 5, strong, strong, 0.5f), 5); /* never coarser */
  /* Twice the |a| of before: 8 times the tide is expected, 40. */
  assert_int_equal(next_rung(&k, 0, 0.25f * strong, strong, 5.0f), 3);
  assert_int_equal(next_rung(&k, 0, 4.0f * strong, strong, 60.0f), 2); /* half: 7.5 */
}

/** Numbers of a group of MOST particles, of which every third is active. */
struct columns {
  float momentum[3 * MOST], acceleration[3 * MOST], mesh[3 * MOST], given[3 * MOST];
  uint8_t rung[MOST];
  uint32_t index[MOST], active;
};

static struct columns make_columns(void) {
  struct columns c = {.active = 0};
  for (uint32_t i = 0; i < 3 * MOST; i++) {
    c.momentum[i] = sinf(1.0f + 2.3f * (float)i);
    c.acceleration[i] = 4.0f * cosf(3.1f * (float)i);
    c.mesh[i] = 0.5f * sinf(1.7f * (float)i);
    c.given[i] = 4.0f * cosf(5.3f * (float)i);
  }
  for (uint32_t i = 0; i < MOST; i++) {
    c.rung[i] = (uint8_t)(i % 3 == 0 ? 2 + i % 4 : i % 2);
    if (i % 3 == 0) c.index[c.active++] = i;
  }
  return c;
}

static struct rung_arrays arrays_of(struct columns *c) {
  return (struct rung_arrays){.count = MOST,
                              .active = c->active,
                              .index = c->index,
                              .given = c->given,
                              .mesh = c->mesh,
                              .acceleration = c->acceleration,
                              .momentum = c->momentum,
                              .rung = c->rung};
}

/** Against the same in double precision, one particle after the other. */
static void kicks_on_this_isa(void) {
  const struct step_kernels *kernels = step_kernels_select();
  struct rung_kick k = kick_with_limits(RUNG_DEEPENS);
  struct columns c = make_columns();
  const struct columns old = make_columns();
  const struct rung_arrays a = arrays_of(&c);
  uint32_t rungs[RUNGS], changed = 0, counted[RUNGS] = {0};
  k.top = 2;
  k.mesh = 0.25f;
  const struct kick_largest largest = kernels->kick_rungs(&k, &a, rungs);
  double most = 0.0;
  for (uint32_t j = 0; j < old.active; j++) {
    const uint32_t i = old.index[j];
    double a2 = 0.0;
    counted[c.rung[i]]++;
    changed += c.rung[i] != old.rung[i];
    for (uint32_t x = 0; x < 3; x++) {
      const double given = (double)old.given[x * old.active + j],
                   mesh = (double)old.mesh[x * MOST + i],
                   kick = (double)k.close[old.rung[i]] + (double)k.open[c.rung[i]];
      assert_near((double)c.momentum[x * MOST + i],
                  (double)old.momentum[x * MOST + i] + kick * given + 0.25 * mesh, 1e-5);
      assert_near((double)c.acceleration[x * MOST + i], given + mesh, 1e-6);
      a2 += (given + mesh) * (given + mesh);
    }
    most = fmax(most, a2);
  }
  assert_near((double)largest.acceleration, sqrt(most), 1e-5);
  assert_true(changed > 0); /* else the test would not see which rung opens a step */
  assert_memory_equal(rungs, counted, sizeof rungs);
  for (uint32_t i = 0; i < MOST; i++) /* the others are untouched */
    if (i % 3 != 0) {
      assert_int_equal(c.rung[i], old.rung[i]);
      assert_true(c.momentum[i] == old.momentum[i] && c.acceleration[i] == old.acceleration[i]);
    }
}

/** A function: the macro mixes signs. */
static bool finite_number(float a) { return isfinite(a) != 0; }

static void bad_numbers_on_this_isa(void) {
  const struct step_kernels *kernels = step_kernels_select();
  const struct rung_kick k = kick_with_limits(RUNG_DEEPENS);
  const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
  uint32_t rungs[RUNGS];
  for (uint32_t at = 0; at < 3 * make_columns().active; at++)
    for (int b = 0; b <= 4; b++) { /* the fifth one is good */
      struct columns c = make_columns();
      const struct rung_arrays a = arrays_of(&c);
      if (b < 4) c.given[at] = bad[b];
      const struct kick_largest l = kernels->kick_rungs(&k, &a, rungs);
      assert_int_equal(finite_number(l.acceleration), b == 4);
      assert_int_equal(finite_number(l.momentum), b == 4);
      c = make_columns();
      if (b < 4) c.momentum[(at / c.active) * MOST + c.index[at % c.active]] = bad[b];
      const struct kick_largest m = kernels->kick_rungs(&k, &a, rungs);
      assert_true(finite_number(m.acceleration));
      assert_int_equal(finite_number(m.momentum), b == 4);
      for (uint32_t i = 0; i < MOST; i++) assert_true(c.rung[i] <= k.deepest);
    }
}

static void kicks_are_those_of_the_rungs(void **state) {
  (void)state;
  on_each_isa(kicks_on_this_isa);
}
static void kicks_tell_what_is_not_finite(void **state) {
  (void)state;
  on_each_isa(bad_numbers_on_this_isa);
}

/* ---- A sphere ---- */

/* A Plummer sphere that is so small and heavy that it turns around while the universe hardly
 * expands: five dynamical times sqrt(b^3/(G M)) in one base step of 1e-3 in ln a. It is so small a
 * part of a mesh cell that the force of the mesh, which kicks only at the ends of the base step, is
 * less than 1e-6 of the short-range force. Particles are in equilibrium, inside 3 b. */
enum { STARS = 256 };
#define SPHERE_BOX 20.0
#define SPHERE_B 0.02
#define SPHERE_DLNA 1e-3
#define SPHERE_TIMES 5.0
#define SPHERE_EPSILON 0.006 /* Mpc/h; the Plummer kernel, whose potential is known */

/** G m of a particle, (km/s)^2 Mpc/h. The time of the base step is about dlna/H0. */
static double sphere_gm(void) {
  const double time = SPHERE_DLNA / HUBBLE_0 / SPHERE_TIMES;
  return pow(SPHERE_B, 3) / (time * time) / STARS;
}

static void direction(double length, double v[3]) {
  const double z = 2.0 * uniform() - 1.0, angle = 2.0 * M_PI * uniform(), r = sqrt(1.0 - z * z);
  v[0] = length * r * cos(angle), v[1] = length * r * sin(angle), v[2] = length * z;
}

/** Aarseth, Henon & Wielen 1974, A&A 37, 183. */
static struct particles sphere(void) {
  struct particles s = particles_create(STARS, SPHERE_BOX, sphere_gm() / GRAVITY);
  seed = 11;
  for (size_t i = 0; i < STARS; i++) {
    double r, x[3], q, g, v[3];
    do r = 1.0 / sqrt(pow(uniform(), -2.0 / 3.0) - 1.0);
    while (r > 3.0);
    do q = uniform(), g = 0.1 * uniform();
    while (g > q * q * pow(1.0 - q * q, 3.5));
    direction(r * SPHERE_B, x);
    direction(q * sqrt(2.0 * sphere_gm() * STARS / SPHERE_B) * pow(1.0 + r * r, -0.25), v);
    s.id[i] = i + 1;
    for (size_t c = 0; c < 3; c++) {
      s.position[c * STARS + i] = position_to_integer(0.5 * SPHERE_BOX + x[c], SPHERE_BOX);
      s.momentum[c * STARS + i] = (float)v[c];
    }
  }
  return s;
}

static struct nbody *sphere_start(struct parameters *p) {
  parameters_from_text(p,
                       "[box]\nsize = 20\nnpart_side = 8\n[time]\nstep = block\neta = 10\n"
                       "min_dlna = 0\n[gravity]\nsoftening = 6\nsoftening_kernel = plummer\n"
                       "pm_grid = 8\n[runtime]\ngroup_size = 64\nleaf_size = 8\n",
                       NULL, 0);
  p->time.eta = 1e30; /* no particle asks for a deeper rung: rungs stay what they are set to */
  struct nbody *n = nbody_create(p, sphere());
  step_first_forces(n);
  short_range_expansions(&n->short_range, false);
  return n;
}

/** Energy of all particles over their mass, at a = 1. The short-range force is Newton's to 1e-6 at
 * these distances. */
static double sphere_energy(struct nbody *n) {
  static double x[STARS][3];
  const struct particles *s = &n->domain.particles;
  double energy = 0.0;
  size_t count = 0;
  domain_acquire(&n->domain);
  FOR_PARTICLES(s, b, i) {
    for (int c = 0; c < 3; c++) {
      x[count][c] = (double)b.x[c][i] * SPHERE_BOX / 4294967296.0;
      energy += 0.5 * (double)b.p[c][i] * (double)b.p[c][i];
    }
    for (size_t j = 0; j < count; j++) {
      double r2 = SPHERE_EPSILON * SPHERE_EPSILON;
      for (int c = 0; c < 3; c++) r2 += (x[count][c] - x[j][c]) * (x[count][c] - x[j][c]);
      energy -= sphere_gm() / sqrt(r2);
    }
    count++;
  }
  domain_release(&n->domain);
  return energy;
}

static uint8_t coarsest; /* rung of the sphere's particles */
static uint8_t same_rung(size_t i) {
  (void)i;
  return coarsest;
}
/** Neighbours in space have different rungs, which is harder than rungs that depend on the place.
 */
static uint8_t three_rungs(size_t i) { return (uint8_t)(coarsest + i % 3); }

/** Put particles on rungs, and tell the groups how many are on each. */
static void count_rungs(struct nbody *n, uint8_t (*rung_of)(size_t)) {
  set_rungs(n, rung_of);
  FOR_GROUPS(&n->domain, g) {
    const struct particle_block b = particles_block(&n->domain.particles, g->index);
    memset(&n->rungs[g->index], 0, sizeof *n->rungs);
    for (size_t i = 0; i < b.count; i++) n->rungs[g->index].particles[rung_of(b.first + i)]++;
  }
}

static void choose_rung(struct nbody *n, struct group *g, void *top) {
  targets_pack(&n->short_range, g, *(const uint8_t *)top, g->targets);
}

/** The energy after one base step with rungs that stay. */
static double energy_after(uint8_t rung, uint8_t (*rung_of)(size_t)) {
  struct parameters p;
  struct nbody *n = sphere_start(&p);
  const struct cosmology cosmology = cosmology_from(&p);
  uint64_t before[RUNGS], after[RUNGS];
  coarsest = rung;
  set_rungs(n, rung_of);
  n->steps.dlna = SPHERE_DLNA; /* the rungs are valid */
  struct base_step b = block_open(n, &p, &cosmology, exp(-SPHERE_DLNA), 1.0);
  block_rungs(n, before);
  while (block_advance(n, &b)) {}
  block_rungs(n, after);
  assert_memory_equal(before, after, sizeof before);
  assert_int_equal(before[rung] > 0, 1);
  block_close(n, &b, NULL, NULL);
  const double energy = sphere_energy(n);
  nbody_free(n);
  return energy;
}

/** By how much the error of the energy falls if steps are four times shorter. With E(h) = E + c
 * h^2, (E(h) - E(h/4))/(E(h/4) - E(h/16)) = 16: the energy without errors need not be known. */
static double fall(uint8_t rung, uint8_t (*rung_of)(size_t)) {
  const double coarse = energy_after(rung, rung_of),
               fine = energy_after((uint8_t)(rung + 2), rung_of),
               finest = energy_after((uint8_t)(rung + 4), rung_of);
  print_message("energy %.9g, changes %.3e and %.3e: %.2f times\n", finest, coarse - fine,
                fine - finest, (coarse - fine) / (fine - finest));
  return (coarse - fine) / (fine - finest);
}

static void energy_errors_fall_with_the_square_of_steps(void **state) {
  (void)state;
  assert_near(fall(5, same_rung), 16.0, 3.0);
  assert_near(fall(5, three_rungs), 16.0, 3.0);
}

/* ---- Forward and back ---- */

/** Kick the particles whose steps begin and end at a tick of 2^(finest - coarsest), by their rungs:
 * half of the step that ends and half of the step that begins. @param dt  of the longest step */
static void kick_at_tick(struct nbody *n, uint32_t tick, uint8_t finest, float dt, bool close,
                         bool open) {
  uint8_t top = finest;
  for (; top > coarsest && tick % (1u << (finest - top + 1)) == 0; top--) {}
  struct rung_kick k = {.choice = RUNG_STAYS, .top = top, .deepest = finest};
  for (uint8_t r = top; r <= finest; r++) {
    const float half = 0.5f * dt / (float)(1u << (r - coarsest));
    k.close[r] = close ? half : 0.0f;
    k.open[r] = open ? half : 0.0f;
  }
  FOR_GROUPS(&n->domain, g) {
    g->moved = 0.0f;
    g->targets = 0;
    for (uint8_t r = top; r <= finest; r++) g->targets += n->rungs[g->index].particles[r];
  }
  domain_find_neighbours(&n->domain);
  uint8_t wanted = top;
  forces_submit(n, false, choose_rung, &wanted);
  FOR_GROUPS(&n->domain, g) {
    if (g->targets == 0) continue;
    kick_rungs_submit(n, g, &k);
    targets_release(&n->short_range, g);
  }
  message_wait();
}

/** Steps of length dt of the coarsest rung; dt < 0 leads back. Only the short-range force, at a =
 * 1. */
static void march(struct nbody *n, int steps, uint8_t finest, float dt) {
  const uint32_t ticks = 1u << (finest - coarsest), last = (uint32_t)steps * ticks;
  for (uint32_t tick = 0; tick <= last; tick++) {
    if (tick > 0) {
      FOR_GROUPS(&n->domain, g) { move_submit(n, g, dt / (float)ticks); }
      message_wait();
    }
    kick_at_tick(n, tick, finest, dt, tick > 0, tick < last);
  }
}

/** Positions of all particles by index in memory, [3 STARS]. */
static void copy_positions(struct nbody *n, uint32_t *x) {
  domain_acquire(&n->domain);
  memcpy(x, n->domain.particles.position, 3 * STARS * sizeof *x);
  domain_release(&n->domain);
}

/** Rms distance over b. */
static double distance(const uint32_t *x, const uint32_t *y) {
  double d2 = 0.0;
  for (int i = 0; i < 3 * STARS; i++) {
    const double d = (double)(int32_t)(x[i] - y[i]) * SPHERE_BOX / 4294967296.0 / SPHERE_B;
    d2 += d * d;
  }
  return sqrt(d2 / STARS);
}

/** How far particles are from where they were, after a dynamical time forward and back, some with
 * other rungs; and how far they went. */
static double forward_and_back(uint8_t (*other_rungs)(size_t), double *way) {
  enum { STEPS = 16 };
  struct parameters p;
  uint32_t before[3 * STARS], turn[3 * STARS], after[3 * STARS];
  struct nbody *n = sphere_start(&p);
  const float dt = (float)(SPHERE_DLNA / HUBBLE_0 / SPHERE_TIMES / STEPS);
  coarsest = 2;
  count_rungs(n, three_rungs);
  copy_positions(n, before);
  march(n, STEPS, coarsest + 2, dt);
  copy_positions(n, turn);
  count_rungs(n, other_rungs);
  march(n, STEPS, coarsest + 2, -dt);
  copy_positions(n, after);
  nbody_free(n);
  *way = distance(before, turn);
  return distance(before, after);
}

static uint8_t other_three_rungs(size_t i) { return (uint8_t)(coarsest + (i + 1) % 3); }

/** A tenth of the way or more is far from it. Positions are rounded to 2e-7 b, momenta to 6e-8, 64
 * times each way, and orbits diverge by a few in a dynamical time. */
static void frozen_rungs_lead_back(void **state) {
  (void)state;
  double way;
  const double frozen = forward_and_back(three_rungs, &way),
               changed = forward_and_back(other_three_rungs, &way);
  print_message("went %.2f b, came back within %.1e b; with other rungs, %.1e b\n", way, frozen,
                changed);
  assert_true(way > 0.5);
  assert_true(frozen < 1e-6);
  assert_true(changed > 10.0 * frozen); /* rounding is not what the test sees otherwise */
}

/* ---- All particles on rung 0 ---- */

enum { BASE_STEPS = 3 };

static uint8_t rung_0(size_t i) {
  (void)i;
  return 0;
}

/** Positions after some base steps, block steps or global ones. @param eta  of block steps; < 0:
 * rungs are set to 0; 0: global steps. */
static void evolve(double eta, uint32_t *x, uint64_t *sub_steps) {
  struct parameters p;
  parameters_from_text(&p,
                       eta == 0.0 ? "[box]\nsize = 100\nnpart_side = 8\n[time]\nstep = fixed\n"
                                    "steps = 3\n[runtime]\ngroup_size = 200\nleaf_size = 8\n"
                                  : "[box]\nsize = 100\nnpart_side = 8\n[time]\nstep = block\n"
                                    "kicks = plain\n[runtime]\ngroup_size = 200\nleaf_size = 8\n",
                       NULL, 0);
  p.gravity.softening = 100.0;
  p.time.eta = eta < 0.0 ? 1e30 : eta;
  struct particles particles = clump(SOME, TARGETS_BOX, 10.0);
  particles.mass = 100.0;
  struct nbody *n = nbody_create(&p, particles);
  const struct cosmology c = cosmology_from(&p);
  const double dlna = 0.02;
  *sub_steps = 0;
  step_first_forces(n);
  if (eta < 0.0) n->steps.dlna = dlna; /* rungs are there */
  for (int k = 0; k < BASE_STEPS; k++) {
    const double a0 = 0.5 * exp(k * dlna), a1 = 0.5 * exp((k + 1) * dlna), middle = sqrt(a0 * a1);
    if (eta == 0.0) {
      step_drift(n, cosmology_kick(&c, a0, middle), cosmology_drift(&c, a0, a1));
      step_forces(n, cosmology_kick(&c, middle, a1), NULL, NULL);
      continue;
    }
    if (eta < 0.0) set_rungs(n, rung_0);
    struct base_step b = block_open(n, &p, &c, a0, a1);
    while (block_advance(n, &b)) {}
    block_close(n, &b, NULL, NULL);
    *sub_steps += b.sub_steps;
  }
  domain_acquire(&n->domain);
  memcpy(x, n->domain.particles.position, 3 * (size_t)SOME * sizeof *x);
  domain_release(&n->domain);
  nbody_free(n);
}

/** Rms difference of positions, in units of the box. */
static double rms_apart(const uint32_t *x, const uint32_t *y) {
  double d2 = 0.0;
  for (int i = 0; i < 3 * SOME; i++) {
    const double d = (double)(int32_t)(x[i] - y[i]) / 4294967296.0;
    d2 += d * d;
  }
  return sqrt(d2 / SOME);
}

static void rung_0_is_global_steps(void **state) {
  static uint32_t block[3 * SOME], forced[3 * SOME], global[3 * SOME], deep[3 * SOME];
  uint64_t steps[4];
  (void)state;
  evolve(1e30, block, &steps[0]);
  evolve(-1.0, forced, &steps[1]);
  evolve(0.0, global, &steps[2]);
  evolve(0.01, deep, &steps[3]);
  print_message("%d sub-steps on several rungs\n", (int)steps[3]);
  assert_int_equal(steps[0], BASE_STEPS);
  assert_true(steps[3] > 4 * BASE_STEPS); /* several rungs */
  assert_memory_equal(block, forced, sizeof block);
  print_message("rms distance from global steps: rung 0 %.1e, several rungs %.1e of the box\n",
                rms_apart(block, global), rms_apart(deep, global));
  /* The same sums in another order: float rounding, 1e-7 of displacements of 1e-2 of the box, which
   * a clump multiplies in three steps. */
  assert_true(rms_apart(block, global) < 1e-8);
  assert_true(rms_apart(deep, global) > 1e-5);
}

/* ---- Linear growth ---- */

enum { WAVE_SIDE = 16, WAVE_COUNT = WAVE_SIDE * WAVE_SIDE * WAVE_SIDE };
#define WAVE_BOX 100.0
#define WAVE_BEGIN 0.02
#define WAVE_LENGTH 1.2     /* in ln a */
#define WAVE_AMPLITUDE 0.05 /* Mpc/h */

/** x of particle i on the lattice. */
static double lattice_x(size_t i) { return ((double)(i % WAVE_SIDE) + 0.5) * WAVE_BOX / WAVE_SIDE; }

/** A growing plane wave along x, one wave length in the box. */
static struct particles wave(const struct cosmology *c) {
  struct particles s = particles_create(WAVE_COUNT, WAVE_BOX,
                                        cosmology_particle_mass(c, WAVE_BOX, WAVE_COUNT));
  const double a = WAVE_BEGIN, f1 = cosmology_growth(c, a).f1;
  for (size_t i = 0; i < WAVE_COUNT; i++) {
    const double q[3] = {lattice_x(i), lattice_x(i / WAVE_SIDE),
                         lattice_x(i / WAVE_SIDE / WAVE_SIDE)},
                 shift = WAVE_AMPLITUDE * sin(2.0 * M_PI * q[0] / WAVE_BOX);
    for (size_t x = 0; x < 3; x++)
      s.position[x * WAVE_COUNT + i] = position_to_integer(q[x] + (x == 0 ? shift : 0.0), WAVE_BOX);
    s.momentum[i] = (float)(a * a * cosmology_hubble(c, a) * f1 * shift);
    s.id[i] = i + 1;
  }
  return s;
}

/** The wave's amplitude, Mpc/h. */
static double amplitude(struct nbody *n) {
  double sum = 0.0;
  domain_acquire(&n->domain);
  FOR_PARTICLES(&n->domain.particles, b, i) {
    const double q = lattice_x((size_t)b.id[i] - 1);
    sum += remainder((double)b.x[0][i] * WAVE_BOX / 4294967296.0 - q, WAVE_BOX) *
           sin(2.0 * M_PI * q / WAVE_BOX);
  }
  domain_release(&n->domain);
  return 2.0 * sum / WAVE_COUNT;
}

/** The amplitude after some equal base steps. */
static double grown(enum kick_kind kicks, int steps) {
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 100\nnpart_side = 16\n", NULL, 0);
  p.time.kicks = kicks;
  p.time.eta = 1e30; /* all particles on rung 0 */
  const struct cosmology c = cosmology_from(&p);
  const double dlna = WAVE_LENGTH / steps;
  struct nbody *n = nbody_create(&p, wave(&c));
  step_first_forces(n);
  for (int k = 0; k < steps; k++) {
    struct base_step b = block_open(n, &p, &c, WAVE_BEGIN * exp(k * dlna),
                                    WAVE_BEGIN * exp((k + 1) * dlna));
    while (block_advance(n, &b)) {}
    block_close(n, &b, NULL, NULL);
  }
  const double grown = amplitude(n);
  nbody_free(n);
  return grown;
}

/* Plain kicks err by some tenth of the step's square for each unit of ln a. A wave on a lattice of 16
 * particles grows by 1 % less than in a continuum, so that growth kicks err by a hundredth of that. */
static void long_steps_follow_linear_growth(void **state) {
  (void)state;
  const double fine = grown(KICKS_PLAIN, 96), plain = grown(KICKS_PLAIN, 6) / fine - 1.0,
               growth = grown(KICKS_GROWTH, 6) / fine - 1.0;
  print_message("growth by steps of 0.2: plain kicks %.1e, growth kicks %.1e\n", plain, growth);
  assert_true(fabs(plain) > 2e-3);
  assert_true(fabs(growth) < 2e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets_feel_what_all_feel),
      cmocka_unit_test(rungs_follow_their_rules),
      cmocka_unit_test(rungs_follow_pairs),
      cmocka_unit_test(rungs_follow_rates),
      cmocka_unit_test(rungs_follow_tides),
      cmocka_unit_test(kicks_are_those_of_the_rungs),
      cmocka_unit_test(kicks_tell_what_is_not_finite),
      cmocka_unit_test(energy_errors_fall_with_the_square_of_steps),
      cmocka_unit_test(frozen_rungs_lead_back),
      cmocka_unit_test(rung_0_is_global_steps),
      cmocka_unit_test(long_steps_follow_linear_growth),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
