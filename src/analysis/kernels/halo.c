/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of the particles of a halo, of several points at a time. Each point has the terms of the walk that it
 * would have alone, in the same order: the bits depend neither on the points beside it nor on the instruction set. */
#include <math.h>

#include "photons/analysis/kernels.h"
#include "photons/domain/tree.h"
#include "src/analysis/halo_tree.h"

#define ANGLE \
  0.6 /* longest side over distance of a node that acts as a point: 0.3 % of a potential */
enum { DEEPEST = 64 }; /* nodes that wait at a time: each level adds one */

/** The points that a walk is with at a node: 1, others 0. */
struct with {
  double of[HALO_POINTS];
};

static inline void set_distances(const struct halo_points *p, const double place[3],
                                 double distance2[HALO_POINTS]) {
#pragma omp simd
  for (int k = 0; k < HALO_POINTS; k++) {
    const double x = place[0] - p->x[0][k], y = place[1] - p->x[1][k], z = place[2] - p->x[2][k];
    distance2[k] = x * x + y * y + z * z;
  }
}

/** 2/sqrt(x) to a few 1e-14: that of single precision, and one step of Newton's method. Twice as fast as a root and a
 * division, and the same bits with all instruction sets. */
static inline double twice_inverse_root(double x) {
  const double y = 1.0F / sqrtf((float)x);
  return y * (3.0 - x * y * y);
}

/** Add the potential of `count` particles at a place. */
static inline void add_point(double sum[HALO_POINTS], const struct with *with, double count,
                             const double distance2[HALO_POINTS], double softening2) {
  const double half = 0.5 * count;
#pragma omp simd
  for (int k = 0; k < HALO_POINTS; k++)
    sum[k] += with->of[k] * (half * twice_inverse_root(distance2[k] + softening2));
}

static double longest_side(const struct halo_node *node) {
  double longest = node->high[0] - node->low[0];
  for (int c = 1; c < 3; c++)
    if (node->high[c] - node->low[c] > longest) longest = node->high[c] - node->low[c];
  return longest;
}

/** Divide the points at a node into those to which it acts as its mass at its centre (Barnes & Hut 1986, Nature 324,
 * 446), and the others. Particles at one place do so in any case. @return the number of the others */
static inline double divide(double side2, const double distance2[HALO_POINTS],
                            const struct with *with, struct with *far, struct with *near) {
  double others = 0.0;
#pragma omp simd reduction(+ : others)
  for (int k = 0; k < HALO_POINTS; k++) {
    far->of[k] = side2 <= ANGLE * ANGLE * distance2[k] ? with->of[k] : 0.0;
    near->of[k] = with->of[k] - far->of[k];
    others += near->of[k];
  }
  return others;
}

static void add_leaf(const struct halo_tree *t, uint32_t node, const struct with *with,
                     double softening2, struct halo_points *p) {
  const uint32_t end = node_end(t->count, node);
  double distance2[HALO_POINTS], twice[HALO_POINTS] = {0.0}; /* twice the sums */
  for (uint32_t i = node_first(t->count, node); i < end; i++) {
    set_distances(p, t->x[i], distance2);
#pragma omp simd
    for (int k = 0; k < HALO_POINTS; k++) twice[k] += twice_inverse_root(distance2[k] + softening2);
  }
  for (int k = 0; k < HALO_POINTS; k++) p->sum[k] += with->of[k] * (0.5 * twice[k]);
}

void KERNEL(halo_potentials)(const struct halo_tree *t, double softening, struct halo_points *p) {
  struct {
    uint32_t node;
    struct with with;
  } stack[DEEPEST];
  const double softening2 = softening * softening;
  for (int k = 0; k < HALO_POINTS; k++) p->sum[k] = 0.0;
  stack[0].node = 1;
  for (int k = 0; k < HALO_POINTS; k++) stack[0].with.of[k] = k < p->count ? 1.0 : 0.0;
  for (unsigned height = 1; height > 0;) {
    const uint32_t number = stack[--height].node;
    const struct with with = stack[height].with;
    const struct halo_node *node = &t->node[number];
    const double side = longest_side(node);
    double distance2[HALO_POINTS];
    struct with far, near;
    set_distances(p, node->centre, distance2);
    const double others = divide(side * side, distance2, &with, &far, &near);
    if (others < p->count)
      add_point(p->sum, &far, (double)(node_end(t->count, number) - node_first(t->count, number)),
                distance2, softening2);
    if (!(others > 0.0)) continue;
    if (number >= 1u << t->depth) {
      add_leaf(t, number, &near, softening2, p);
      continue;
    }
    stack[height].node = 2 * number + 1;
    stack[height++].with = near;
    stack[height].node = 2 * number;
    stack[height++].with = near;
  }
}

extern const struct halo_kernels KERNEL(halo_kernels);
const struct halo_kernels KERNEL(halo_kernels) = {KERNEL(halo_potentials), KERNEL(halo_nearest),
                                                  KERNEL(halo_keep_inside), KERNEL(halo_distances)};
