/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernels of direct forces against sums in double precision, for each instruction set and any
 * number of targets, with pairs that are softened and particles at one point. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/tree/p2p.h"
#include "photons/tree/pair_rates.h"
#include "support/kernels.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

enum { MOST = 41, SOURCES = 300 };
static const float SCALE = 0x1p-29f, /* units of r_cut per position unit: the box is 8 r_cut wide */
    NEWTON_SCALE = 0x1p-31f;

/** One leaf of targets, which are the first particles of a group, and the group as its sources. */
struct leaf {
  uint32_t x[3 * SOURCES], target_x[3 * MOST], offset[2], entry[1], first[2], count[1];
  const uint32_t *source_x[1];
  float mass[SOURCES];
  const float *source_mass[1];
  uint8_t type[SOURCES];
  const uint8_t *source_type[1];
  uint32_t index[MOST];
  struct node nodes[2];
  struct interaction_list near;
  struct p2p_target target;
};

static uint32_t random32(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 32);
}

/** Sources within 1.6 r_cut of each other. Each fifth is near another one, inside the softening of
 * 0.02 r_cut, and each fifteenth at its place. */
static void place(struct leaf *l) {
  uint64_t state = 7;
  for (uint32_t i = 0; i < SOURCES; i++) {
    for (uint32_t c = 0; c < 3; c++)
      l->x[c * SOURCES + i] = (i % 5 == 4
                                   ? l->x[c * SOURCES + i - 1] + (i % 3 ? random32(&state) >> 9 : 0)
                                   : random32(&state) / 5);
    l->mass[i] = 0.5f + (float)(i % 7);
    l->type[i] = (uint8_t)(i % 3);
  }
}

/** The first n particles as the targets of one leaf. */
static void choose_targets(struct leaf *l, uint32_t n, float scale, bool mixed) {
  uint32_t low[3], high[3];
  for (uint32_t c = 0; c < 3; c++) {
    low[c] = UINT32_MAX, high[c] = 0;
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t x = l->x[c * SOURCES + i];
      l->target_x[c * n + i] = x;
      l->index[i] = i;
      low[c] = x < low[c] ? x : low[c];
      high[c] = x > high[c] ? x : high[c];
    }
    l->nodes[1].centre[c] = low[c] + (high[c] - low[c]) / 2;
    l->nodes[1].half[c] = (float)(high[c] - low[c]) * scale * 0.500001f + 1e-6f;
  }
  l->first[1] = n;
  l->offset[1] = 1;
  l->entry[0] = 1; /* the root of the group's tree */
  l->count[0] = SOURCES;
  l->source_x[0] = l->x;
  l->source_mass[0] = l->mass;
  l->source_type[0] = l->type;
  l->near = (struct interaction_list){.offset = l->offset, .entry = l->entry, .entries = 1};
  l->target = (struct p2p_target){.count = n,
                                  .first = l->first,
                                  .scale = scale,
                                  .factor = 3.0f,
                                  .x = l->target_x,
                                  .nodes = l->nodes,
                                  .near = &l->near,
                                  .source_x = l->source_x,
                                  .source_count = l->count,
                                  .source_mass = mixed ? l->source_mass : NULL,
                                  .source_type = mixed ? l->source_type : NULL,
                                  .index = l->index,
                                  .tide = scale == SCALE};
}

/** Largest of the differences between n numbers and those in double precision, over the largest
 * number. */
static double difference(const float *kernel, const float *exact, size_t n) {
  double error = 0.0, largest = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double one = fabs((double)kernel[i] - (double)exact[i]);
    error = isfinite(one) ? fmax(error, one) : INFINITY;
    largest = fmax(largest, fabs((double)exact[i]));
  }
  return error / largest;
}

/** The same of the kernel's forces, and of its tides if they are wanted: the larger one. */
static double largest_error(const struct p2p_kernels *k, const struct p2p_law *law,
                            const struct leaf *l) {
  float exact[P2P_SUMS * MOST], kernel[P2P_SUMS * MOST];
  struct p2p_scratch scratch = {0};
  const size_t n = l->target.count, tides = P2P_TIDE * n;
  p2p_exact(law, &l->target, exact);
  k->p2p(law, &l->target, &scratch, kernel);
  p2p_scratch_free(&scratch);
  return fmax(difference(kernel, exact, tides),
              l->target.tide ? difference(kernel + tides, exact + tides, n) : 0.0);
}

struct choice {
  enum split_kind split;
  enum softening_kind softening;
  bool mixed; /* masses and softening lengths differ */
  int degree; /* of the polynomial */
  double bound;
};

/* Floats relative to the centre of a leaf err by 3e-8 r_cut, which beside softening lengths of 0.01
 * r_cut changes single forces by some 1e-5; a polynomial of degree 5 errs by 2e-4. */
static void check(struct choice choice) {
  static const char *const isas[] = {"baseline", "avx2", "avx512"};
  static const double of_type[PARTICLE_TYPES] = {0.07, 0.03, 0.05};
  struct leaf *l = allocate(1, sizeof *l, "leaf");
  struct split *split = allocate(1, sizeof *split, "split");
  struct p2p_law law;
  const bool newton = choice.split == SPLIT_NEWTON;
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select();
  if (newton)
    split_init_newton(split, 3.6);
  else
    split_init(split, choice.split, 0.75, 3.6, choice.degree);
  p2p_law_init(&law, P2P_POLYNOMIAL, choice.softening, 0.07, 0, split);
  if (choice.mixed) p2p_law_soften(&law, of_type);
  place(l);
  for (enum isa isa = 0; isa <= best; isa++) {
    setenv("PHOTONS_ISA", isas[isa], 1);
    const struct kernels k = kernels_select();
    for (uint32_t n = 1; n <= MOST; n++) {
      choose_targets(l, n, newton ? NEWTON_SCALE : SCALE, choice.mixed);
      const double error = largest_error(&k.p2p, &law, l);
      if (!(error < choice.bound))
        fail_msg("%s, %u targets: error %.1e of the largest force", k.name, n, error);
    }
  }
  unsetenv("PHOTONS_ISA");
  free(split);
  free(l);
}

static void one_softening(void **state) {
  (void)state;
  check((struct choice){SPLIT_KAISER, SOFTENING_SPLINE, false, 8, 2e-5});
  check((struct choice){SPLIT_KAISER, SOFTENING_PLUMMER, false, 8, 2e-5});
  check((struct choice){SPLIT_KAISER, SOFTENING_SPLINE, false, 5, 3e-4});
  check((struct choice){SPLIT_KAISER, SOFTENING_SPLINE, false, 6, 3e-5}); /* the adapted form */
  check((struct choice){SPLIT_KAISER, SOFTENING_PLUMMER, false, 6, 3e-5});
}
static void masses_and_types(void **state) {
  (void)state;
  check((struct choice){SPLIT_KAISER, SOFTENING_SPLINE, true, 8, 2e-5});
  check((struct choice){SPLIT_KAISER, SOFTENING_PLUMMER, true, 8, 2e-5});
}
static void without_a_mesh(void **state) {
  (void)state;
  check((struct choice){SPLIT_NEWTON, SOFTENING_SPLINE, false, 0, 2e-5});
  check((struct choice){SPLIT_NEWTON, SOFTENING_PLUMMER, true, 0, 2e-5});
}

/* ---- Rates of pairs ---- */

/** 1/step of target i with source j, in double precision. */
static double rate_of(const struct pair_law *law, const struct p2p_law *forces,
                      const struct leaf *l, const float *p, uint32_t i, uint32_t j) {
  const bool mixed = l->target.source_mass;
  double r2 = 0.0, v2 = 0.0, rv = 0.0;
  for (uint32_t c = 0; c < 3; c++) {
    const double r = (double)l->target.scale *
                     (int32_t)(l->x[c * SOURCES + j] - l->x[c * SOURCES + i]),
                 v = (double)law->speed * ((double)p[c * SOURCES + j] - (double)p[c * SOURCES + i]);
    r2 += r * r;
    v2 += v * v;
    rv += r * v;
  }
  if (!(r2 + v2 > 0.0)) return 0.0;
  const uint8_t *type = mixed ? l->type : NULL;
  const double soft2 = fmax((double)p2p_soft2(forces, type, i), (double)p2p_soft2(forces, type, j)),
               d2 = r2 + (double)law->soft * soft2,
               mass = (double)law->mass * (mixed ? (double)l->mass[i] + (double)l->mass[j] : 2.0),
               turn = mass / pow(d2, 1.5), pass = v2 / d2, q = pass + turn;
  return (double)law->inverse_eta * sqrt(q) - 0.5 * rv / d2 * (pass + 2.5 * turn) / q;
}

static double largest_rate(const struct pair_law *law, const struct p2p_law *forces,
                           const struct leaf *l, const float *p, uint32_t i) {
  double largest = 0.0;
  for (uint32_t j = 0; j < SOURCES; j++)
    if (j != i) largest = fmax(largest, rate_of(law, forces, l, p, i, j));
  return largest;
}

static void check_rates(bool mixed) {
  static const char *const isas[] = {"baseline", "avx2", "avx512"};
  static const double of_type[PARTICLE_TYPES] = {0.07, 0.03, 0.05};
  const struct pair_law law = {.speed = 0.5f, .mass = 2.0f, .inverse_eta = 20.0f, .soft = 1.0f};
  struct leaf *l = allocate(1, sizeof *l, "leaf");
  struct split *split = allocate(1, sizeof *split, "split");
  float p[3 * SOURCES], rate[MOST];
  const float *momenta[1] = {p};
  struct p2p_law forces;
  unsetenv("PHOTONS_ISA");
  const enum isa best = isa_select();
  split_init_newton(split, 3.6);
  p2p_law_init(&forces, P2P_POLYNOMIAL, SOFTENING_PLUMMER, 0.07, 0, split);
  if (mixed) p2p_law_soften(&forces, of_type);
  place(l);
  uint64_t state = 5;
  for (uint32_t i = 0; i < 3 * SOURCES; i++) p[i] = (float)random32(&state) * 0x1p-30f - 2.0f;
  for (enum isa isa = 0; isa <= best; isa++) {
    setenv("PHOTONS_ISA", isas[isa], 1);
    const struct kernels k = kernels_select();
    choose_targets(l, MOST, NEWTON_SCALE, mixed);
    struct pair_target target = {l->target, momenta};
    target.at.leaf_end = 1;
    k.p2p.pair_rates(&law, &forces, &target, rate);
    for (uint32_t i = 0; i < MOST; i++)
      assert_true(fabs((double)rate[i] / largest_rate(&law, &forces, l, p, i) - 1.0) < 1e-5);
  }
  unsetenv("PHOTONS_ISA");
  free(split);
  free(l);
}

static void rates_of_pairs(void **state) {
  (void)state;
  check_rates(false);
  check_rates(true);
}

/** The place and the velocity of two bodies of unit mass, softening 0.1, after a short time: along their path. */
static void move(double x[2], double v[2], double time) {
  for (int step = 0; step < 100; step++) {
    const double h = time / 100.0;
    for (int c = 0; c < 2; c++) x[c] += 0.5 * h * v[c];
    const double d3 = pow(x[0] * x[0] + x[1] * x[1] + 0.01, 1.5);
    for (int c = 0; c < 2; c++) v[c] -= h * x[c] / d3;
    for (int c = 0; c < 2; c++) x[c] += 0.5 * h * v[c];
  }
}

static double step_at(const double x[2], const double v[2], double eta) {
  return 1.0 / (double)pair_rate((float)(x[0] * x[0] + x[1] * x[1] + 0.01),
                                 (float)(x[0] * v[0] + x[1] * v[1]),
                                 (float)(v[0] * v[0] + v[1] * v[1]), 1.0f, (float)(1.0 / eta));
}

/** A step that begins where one ends, with velocities reversed, has the same length but for terms of a higher
 * order; without the derivative it would differ by its part eta. */
static void steps_are_the_same_backwards(void **state) {
  (void)state;
  for (int k = -4; k <= 4; k++) {
    double x[2] = {1.0, 0.3}, v[2] = {0.2 * k, 0.2};
    const double eta = 0.02, there = step_at(x, v, eta);
    move(x, v, there);
    for (int c = 0; c < 2; c++) v[c] = -v[c];
    assert_true(fabs(step_at(x, v, eta) / there - 1.0) < 2.0 * eta * eta);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_softening),
      cmocka_unit_test(masses_and_types),
      cmocka_unit_test(without_a_mesh),
      cmocka_unit_test(rates_of_pairs),
      cmocka_unit_test(steps_are_the_same_backwards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
