/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random pairs of nodes of an isolated system, and what a walk does with each by the formulas of the relative criterion and of
 * the bound on sums of errors, in double precision. The pairs are roots of trees: targets, and the sources of several slots. */
#ifndef PHOTONS_TESTS_JUDGED_PAIRS_H
#define PHOTONS_TESTS_JUDGED_PAIRS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/tree/walk.h"

enum { PAIRS_DEPTH = 2, PAIRS_NODES = 2 << PAIRS_DEPTH, PAIRS_SLOTS = 129, PAIRS_GROUP = 400 };

/** What the formulas say of a pair. */
enum pair_fate {
  PAIR_OPENED, /**< by the limit of size/distance or by the error of the pair itself */
  PAIR_OF_SUM, /**< by the bound on the sum of errors alone */
  PAIR_ACCEPTED,
  PAIR_NEAR_A_LIMIT, /**< where rounding decides */
};

/** The trees of targets and sources. The sources of slot 0, the targets' own group, are where the targets are. */
struct judged_pairs {
  struct acceptance acceptance;
  uint32_t count;                         /**< targets, of PAIRS_GROUP particles */
  uint32_t first[(1 << PAIRS_DEPTH) + 1]; /**< table of the leaves of packed targets */
  struct node target[PAIRS_NODES];        /**< all nodes of a tree are alike */
  struct node source[PAIRS_SLOTS][PAIRS_NODES];
  uint32_t source_count[PAIRS_SLOTS];
  enum pair_fate fate[PAIRS_SLOTS];
};

/** 10^x, x drawn evenly from a range. */
static inline double pairs_power_of_ten(uint64_t *state, double low, double high) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return pow(10.0, low + (high - low) * ((double)(*state >> 11) * 0x1p-53));
}

static inline void pairs_fill(struct node nodes[PAIRS_NODES], double distance, double radius,
                              double acceleration) {
  const float r = (float)radius;
  for (int i = 0; i < PAIRS_NODES; i++)
    nodes[i] = (struct node){.centre = {(uint32_t)(0x1p31 + distance * 0x1p32), 1u << 31, 1u << 31},
                             .half = {r / 2.0f, r / 2.0f, r / 2.0f},
                             .radius = r,
                             .acc_min = (float)acceleration};
}

/** Whether one number is above another, and whether rounding could decide that. */
static inline bool pairs_above(double x, double limit, bool *close) {
  *close |= fabs(x / limit - 1.0) < 1e-3;
  return x > limit;
}

/** The formulas: the error of a pair on either side (Dehnen 2014, section 3), and the sum of the errors of the larger node's
 * expansion from as many small nodes as there is room for in a part of space as wide as that node, or as its acceleration allows.
 * @param targets, sources  masses */
static inline enum pair_fate pairs_fate(const struct acceptance *a, const struct node *t,
                                        const struct node *s, double targets, double sources,
                                        bool bounded) {
  const double d = fabs((double)s->centre[0] - (double)t->centre[0]) * 0x1p-32,
               rt = (double)t->radius, rs = (double)s->radius, ta = (double)t->acc_min,
               sa = (double)s->acc_min, tolerance = (double)a->tolerance, leaves = 1 << PAIRS_DEPTH,
               unit = leaves * (a->order + 1) / (d * d),
               error = unit * pow((rt + rs) / d, a->order);
  const bool of_target = rt > rs;
  const double large = of_target ? rt : rs, small = of_target ? rs : rt, acc = of_target ? ta : sa,
               beside = (of_target ? sources : targets) * pow(large / small, 3.0) / (d * d),
               sum = unit * d * d * fmin(beside, acc) * pow(large / d, a->order);
  bool close = false;
  bool open = pairs_above(rt + rs, (double)a->theta * d, &close);
  open |= pairs_above(error * sources, tolerance * ta, &close);
  open |= pairs_above(error * targets, tolerance * sa, &close);
  const bool adds_up = bounded && pairs_above(sum, 3.0 * tolerance * acc, &close);
  return close ? PAIR_NEAR_A_LIMIT : open ? PAIR_OPENED : adds_up ? PAIR_OF_SUM : PAIR_ACCEPTED;
}

/** Draw the pairs.
 * @param count    targets; they are packed if they are not all of the group
 * @param bounded  whether the walk is to bound sums */
static inline void pairs_draw(struct judged_pairs *p, uint64_t seed, uint32_t count, bool bounded) {
  struct split split;
  split_init_newton(&split, 1.0);
  acceptance_init(&p->acceptance, MAC_RELATIVE, 0.9, 1e-3, 6, 0.0, 1.0, PAIRS_DEPTH, &split);
  acceptance_bound_sums(&p->acceptance);
  p->count = count;
  for (uint32_t j = 0; j <= 1 << PAIRS_DEPTH; j++) p->first[j] = level_first(count, PAIRS_DEPTH, j);
  const double share = (double)count / PAIRS_GROUP, radius = pairs_power_of_ten(&seed, -3.0, -2.0),
               strong = 1e6, targets = count < PAIRS_GROUP ? share * share * share * count : count;
  pairs_fill(p->target, 0.0, radius, strong);
  pairs_fill(p->source[0], 0.0, radius, strong);
  p->source_count[0] = PAIRS_GROUP;
  for (int slot = 1; slot < PAIRS_SLOTS; slot++) {
    const double other = radius * pairs_power_of_ten(&seed, -1.5, 0.9),
                 d = (radius + other) * pairs_power_of_ten(&seed, 0.0, 0.7),
                 pull = strong * pairs_power_of_ten(&seed, -5.0, -0.5);
    p->source_count[slot] = (uint32_t)fmax(PAIRS_NODES, pull * d * d);
    pairs_fill(p->source[slot], d, other, targets / (d * d) * pairs_power_of_ten(&seed, 0.0, 4.0));
    p->fate[slot] = pairs_fate(&p->acceptance, p->target, p->source[slot], targets,
                               p->source_count[slot], bounded);
  }
}

/** Compare with the lists of a walk.
 * @param offset, entry  of the far lists of all nodes
 * @param[out] counts    of each fate, added up
 * @return pairs of roots whose fate is another one */
static inline uint32_t pairs_differ(const struct judged_pairs *p, const uint32_t *offset,
                                    const uint32_t *entry, uint32_t counts[4]) {
  bool accepted[PAIRS_SLOTS] = {false};
  for (uint32_t i = offset[1]; i < offset[2]; i++)
    if (entry[i] % PAIRS_NODES == 1) accepted[entry[i] / PAIRS_NODES] = true;
  uint32_t wrong = 0;
  for (int slot = 1; slot < PAIRS_SLOTS; slot++) {
    counts[p->fate[slot]]++;
    wrong += p->fate[slot] != PAIR_NEAR_A_LIMIT &&
             accepted[slot] != (p->fate[slot] == PAIR_ACCEPTED);
  }
  return wrong;
}

/** The walks of all tests: all particles of a group are targets, a quarter of them, and fewer, where sums are not bounded
 * (walk_bounds_sums()). */
static const struct {
  uint32_t count;
  bool bounded;
} pairs_walks[] = {{PAIRS_GROUP, true}, {PAIRS_GROUP / 4, true}, {PAIRS_GROUP / 4 - 1, false}};
enum { PAIRS_WALKS = sizeof pairs_walks / sizeof *pairs_walks, PAIRS_DRAWS = 32 };

#endif
