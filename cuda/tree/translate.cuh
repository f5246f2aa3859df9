/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Translate expansions (fmm.h) from node to node: m2m, l2l. A lane translates an expansion in its registers, along one
 * axis after the other, which takes 378 multiplications for a local expansion of order 6 instead of 924 at once.
 *
 * A warp, which is a CUDA block, has a subtree (levels.cuh), whose expansions it holds in shared memory in heap order.
 * Its lanes have the nodes of one level after the other. */
#ifndef PHOTONS_TRANSLATE_CUH
#define PHOTONS_TRANSLATE_CUH

#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/levels.cuh"
#include "cuda/tree/rows.cuh"

static_assert(1 << (SUBTREE - 1) == WARP, "a lane for each node of a subtree's lowest level");

/** Place of a term in an expansion with the constant term: see fmm.h. */
static __device__ constexpr int term(int x, int y, int z) {
  return (x + y + z) * (x + y + z + 1) * (x + y + z + 2) / 6 + (y + z) * (y + z + 1) / 2 + z;
}
/** The same of the exponent n along an axis, and a and b along the other two. */
static __device__ constexpr int term_along(int axis, int n, int a, int b) {
  return axis == 0 ? term(n, a, b) : axis == 1 ? term(a, n, b) : term(a, b, n);
}

/** Translate an expansion up to a degree, with its constant term, by r. Along an axis, up, value_n becomes the sum of
 * value_m r^(n-m)/(n-m)! over m <= n; else that of value_m r^(m-n)/(m-n)! over m >= n. */
template <int DEGREE, bool UP>
static __device__ inline void translate(const float r[3], float *value) {
#pragma unroll
  for (int axis = 0; axis < 3; axis++) {
    float power[DEGREE + 1];
    power[0] = 1.0f;
#pragma unroll
    for (int k = 1; k <= DEGREE; k++) power[k] = power[k - 1] * (r[axis] * (1.0f / (float)k));
#pragma unroll
    for (int a = 0; a <= DEGREE; a++)
#pragma unroll
      for (int b = 0; b <= DEGREE - a; b++)
#pragma unroll
        for (int i = 0; i <= DEGREE - a - b; i++) { /* what a sum needs has not been replaced yet */
          const int n = UP ? DEGREE - a - b - i : i, terms = UP ? n : DEGREE - a - b - n,
                    own = term_along(axis, n, a, b);
#pragma unroll
          for (int k = 1; k <= terms; k++)
            value[own] = fmaf(value[term_along(axis, UP ? n - k : n + k, a, b)], power[k],
                              value[own]);
        }
  }
}

/** The place of a node relative to its parent. */
static __device__ inline void place_of(const struct node *nodes, uint32_t node, float scale,
                                       float r[3]) {
#pragma unroll
  for (int c = 0; c < 3; c++) r[c] = centre_difference(&nodes[node], &nodes[node / 2], c, scale);
}

#endif
