/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The refit: boxes of a group's tree from its particles, leaves first. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "photons/domain/geometry.h"
#include "photons/tree/kernels.h"
#include "photons/tree/walk.h"

#define ROUND_UP 1.000001f /* conversion to float may round down; boxes must not shrink */

/** Compute a leaf of n particles. With leaf_size = 1 a leaf may be empty: its box is then the point
 * of the next particle, and its acc_min limits no acceptance. */
static void refit_leaf(uint32_t n, uint32_t stride, float scale, float acc_unit, bool least,
                       const uint32_t *x, const float *acceleration, struct node *node) {
  for (size_t c = 0; c < 3; c++) {
    const uint32_t *xc = x + c * stride, reference = xc[0];
    int32_t lo = 0, hi = 0;
    for (uint32_t i = 1; i < n; i++) {
      int32_t d = position_difference(xc[i], reference);
      lo = d < lo ? d : lo;
      hi = d > hi ? d : hi;
    }
    int64_t middle = ((int64_t)lo + hi) / 2;
    int64_t half = hi - middle > middle - lo ? hi - middle : middle - lo;
    node->centre[c] = reference + (uint32_t)middle;
    node->half[c] = (float)half * scale * ROUND_UP;
  }
  float radius2 = 0.0f, acc2 = 0.0f, least2 = INFINITY;
  for (uint32_t i = 0; i < n; i++) {
    float r2 = 0.0f, a2 = 0.0f;
    for (size_t c = 0; c < 3; c++) {
      float d = (float)position_difference(x[c * stride + i], node->centre[c]) * scale,
            a = acceleration[c * stride + i];
      r2 += d * d;
      a2 += a * a;
    }
    radius2 = r2 > radius2 ? r2 : radius2;
    acc2 += a2;
    least2 = a2 > 0.0f && a2 < least2 ? a2 : least2;
  }
  node->radius = sqrtf(radius2) * ROUND_UP;
  acc2 = !least ? acc2 / (float)n : least2 < INFINITY ? least2 : 0.0f;
  node->acc_min = n > 0 ? sqrtf(acc2) * acc_unit : FLT_MAX;
}

/** The union of two boxes is computed relative to the first box, so that it is correct across the periodic edge. */
void KERNEL(join)(float scale, const struct node *a, const struct node *b, struct node *parent) {
  float half2 = 0.0f, da2 = 0.0f, db2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = (float)position_difference(b->centre[c], a->centre[c]) * scale;
    float low = fminf(-a->half[c], d - b->half[c]), high = fmaxf(a->half[c], d + b->half[c]);
    float middle = 0.5f * (low + high);
    int64_t shift = llrintf(middle / scale);
    float actual = (float)shift * scale;
    parent->centre[c] = a->centre[c] + (uint32_t)shift;
    parent->half[c] = fmaxf(high - actual, actual - low) * ROUND_UP;
    half2 += parent->half[c] * parent->half[c];
    da2 += actual * actual;
    db2 += (d - actual) * (d - actual);
  }
  parent->radius = fminf(sqrtf(half2),
                         fmaxf(sqrtf(da2) + a->radius, sqrtf(db2) + b->radius) * ROUND_UP);
  parent->acc_min = fminf(a->acc_min, b->acc_min);
}

/** Compute an inner node from its children. Of packed targets one or both of these may be empty. */
static void refit_parent(uint32_t count, unsigned depth, const uint32_t *first, float scale,
                         uint32_t parent, struct node *nodes) {
  const struct node *a = &nodes[2 * parent], *b = &nodes[2 * parent + 1];
  if (first && tree_node_count(count, depth, first, 2 * parent) == 0)
    nodes[parent] = *b;
  else if (first && tree_node_count(count, depth, first, 2 * parent + 1) == 0)
    nodes[parent] = *a;
  else
    KERNEL(join)(scale, a, b, &nodes[parent]);
}

void KERNEL(refit)(uint32_t count, unsigned depth, const uint32_t *first, uint32_t root,
                   float scale, float acc_unit, bool least, const uint32_t *x,
                   const float *acceleration, struct node *nodes) {
  const uint32_t leaves = 1u << depth;
  unsigned levels = depth - node_level(root);
  for (uint32_t node = root << levels; node < (root + 1) << levels; node++) {
    const uint32_t leaf = node - leaves, from = tree_level_first(count, depth, first, depth, leaf),
                   end = tree_level_first(count, depth, first, depth, leaf + 1);
    if (first && from == end) continue;
    refit_leaf(end - from, count, scale, acc_unit, least, x + from, acceleration + from,
               &nodes[node]);
  }
  while (levels-- > 0)
    for (uint32_t parent = root << levels; parent < (root + 1) << levels; parent++)
      refit_parent(count, depth, first, scale, parent, nodes);
}

uint32_t KERNEL(pack)(uint32_t count, const uint8_t *rung, uint8_t top, const uint32_t *x,
                      const float *acceleration, uint32_t active, unsigned depth, uint32_t *index,
                      uint32_t *first, uint32_t *packed_x, float *packed_acceleration) {
  uint32_t n = 0;
  for (uint32_t leaf = 0; leaf < 1u << depth; leaf++) {
    const uint32_t from = level_first(count, depth, leaf),
                   end = level_first(count, depth, leaf + 1);
    uint8_t deepest = 0; /* most leaves have no active particle where few are active */
    for (uint32_t i = from; i < end; i++) deepest = rung[i] > deepest ? rung[i] : deepest;
    first[leaf] = n;
    if (deepest < top) continue;
    for (uint32_t i = from; i < end && n < active; i++) {
      index[n] = i;
      n += rung[i] >= top;
    }
  }
  first[1u << depth] = n;
  for (size_t c = 0; c < 3; c++)
    for (uint32_t k = 0; k < n; k++) {
      packed_x[c * active + k] = x[c * count + index[k]];
      packed_acceleration[c * active + k] = acceleration[c * count + index[k]];
    }
  return n;
}
