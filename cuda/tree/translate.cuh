/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Translate expansions (fmm.h) from node to node: m2m, l2l. A warp translates an expansion along one
 * axis after the other, which takes 378 multiplications for a local expansion of order 6 instead of
 * 924 at once. A lane has the terms whose exponents along the other two axes are the same.
 *
 * A CUDA block has a subtree (levels.cuh), whose expansions it holds in shared memory in heap
 * order. */
#ifndef PHOTONS_TRANSLATE_CUH
#define PHOTONS_TRANSLATE_CUH

#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/levels.cuh"

enum { TRANSLATE_BLOCK = 256 };

/** Place of a term in an expansion with the constant term: see fmm.h. */
static __device__ inline int term(int x, int y, int z) {
  const int degree = x + y + z, rest = y + z;
  return degree * (degree + 1) * (degree + 2) / 6 + rest * (rest + 1) / 2 + z;
}

/** The terms of a lane, of expansions up to a degree. */
template <int DEGREE> struct lane_terms {
  static_assert((DEGREE + 1) * (DEGREE + 2) / 2 <= WARP, "a lane for each row of terms");
  int count;                /* of exponents along the axis */
  int place[3][DEGREE + 1]; /* by axis and exponent */

  __device__ lane_terms() {
    int rest = 0, lane = (int)(threadIdx.x % WARP);
    while (lane > rest) lane -= ++rest; /* exponents rest - lane and lane along the other axes */
    const int a = rest - lane, b = lane;
    count = max(DEGREE + 1 - rest, 0);
#pragma unroll
    for (int n = 0; n <= DEGREE; n++) {
      place[0][n] = term(n, a, b);
      place[1][n] = term(a, n, b);
      place[2][n] = term(a, b, n);
    }
  }
};

/** Translate the lane's terms along an axis: up, value_n becomes the sum of value_m r^(n-m)/(n-m)! over
 * m <= n; else that of value_m r^(m-n)/(m-n)! over m >= n. */
template <int DEGREE, bool UP> static __device__ inline void translate_row(float r, float *value) {
  float power[DEGREE + 1];
  power[0] = 1.0f;
#pragma unroll
  for (int k = 1; k <= DEGREE; k++) power[k] = power[k - 1] * (r * (1.0f / (float)k));
#pragma unroll
  for (int i = 0; i <= DEGREE; i++) { /* what a sum needs has not been replaced yet */
    const int n = UP ? DEGREE - i : i, terms = UP ? n : DEGREE - n;
#pragma unroll
    for (int k = 1; k <= terms; k++) value[n] = fmaf(value[UP ? n - k : n + k], power[k], value[n]);
  }
}

/** Translate an expansion by r.
 * @param read   read(place): its term
 * @param write  write(place, value): the new term
 * @param work   [terms] of this warp, shared memory */
template <int DEGREE, bool UP, typename Read, typename Write>
static __device__ inline void translate(const struct lane_terms<DEGREE> &own, const float *r,
                                        float *work, Read read, Write write) {
#pragma unroll
  for (int axis = 0; axis < 3; axis++) {
    float value[DEGREE + 1];
#pragma unroll
    for (int n = 0; n <= DEGREE; n++) {
      const int place = own.place[axis][n];
      value[n] = n >= own.count ? 0.0f : axis == 0 ? read(place) : work[place];
    }
    translate_row<DEGREE, UP>(r[axis], value);
#pragma unroll
    for (int n = 0; n <= DEGREE; n++) {
      const int place = own.place[axis][n];
      if (n >= own.count) continue;
      if (axis == 2)
        write(place, value[n]);
      else
        work[place] = value[n];
    }
    __syncwarp();
  }
}

/** The places of the nodes first .. end - 1 of the CUDA block's subtree, in its heap order, relative
 * to their parents.
 * @param top  root of the subtree, in the tree's heap order */
static __device__ inline void place_nodes(const struct node *nodes, uint32_t top, uint32_t first,
                                          uint32_t end, float scale, float (*place)[3]) {
  for (uint32_t own = first + threadIdx.x; own < end; own += TRANSLATE_BLOCK) {
    const uint32_t width = 1u << (31 - __clz((int)own)), node = top * width + own - width;
    for (int c = 0; c < 3; c++)
      place[own][c] = centre_difference(&nodes[node], &nodes[node / 2], c, scale);
  }
}

/** Call copy(place in the tree, place in the subtree) for the floats of the rows of SIZE floats of
 * levels begin .. end - 1 of the CUDA block's subtree, whose root is on a level of the tree. */
template <int SIZE, typename Copy>
static __device__ inline void each_float(unsigned root, unsigned begin, unsigned end, Copy copy) {
  for (unsigned level = begin; level < end; level++) {
    const uint32_t width = 1u << level;
    const size_t first = ((size_t)(1u << (root + level)) + (size_t)blockIdx.x * width) * SIZE;
    for (uint32_t i = threadIdx.x; i < width * SIZE; i += TRANSLATE_BLOCK)
      copy(first + i, width * SIZE + i);
  }
}

#endif
