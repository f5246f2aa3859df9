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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_softening),
      cmocka_unit_test(masses_and_types),
      cmocka_unit_test(without_a_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
