/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expansions of nodes are rows of floats: how threads read them, how warps write their sums, and how a warp has rows of
 * many nodes in shared memory. */
#ifndef PHOTONS_ROWS_CUH
#define PHOTONS_ROWS_CUH

#include "cuda/runtime/gpu.cuh"

/** Read a row of N floats in as few loads as its alignment allows: lanes read rows of different
 * nodes, and each load takes as long as 32 of one row. */
template <int N> static __device__ inline void load_row(const float *from, float *to) {
  if constexpr (N % 4 == 0) {
#pragma unroll
    for (int k = 0; k < N; k += 4) {
      const float4 v = __ldg((const float4 *)(from + k));
      to[k] = v.x, to[k + 1] = v.y, to[k + 2] = v.z, to[k + 3] = v.w;
    }
  } else if constexpr (N % 2 == 0) {
#pragma unroll
    for (int k = 0; k < N; k += 2) {
      const float2 v = __ldg((const float2 *)(from + k));
      to[k] = v.x, to[k + 1] = v.y;
    }
  } else {
#pragma unroll
    for (int k = 0; k < N; k++) to[k] = __ldg(from + k);
  }
}

/** The first of 2 * STEP values becomes the sum over two halves of the lanes for as many values:
 * lanes with the bit STEP keep the upper half of the values, the others the lower half. */
template <int STEP> static __device__ inline void add_halves(float *value) {
  const bool upper = threadIdx.x & STEP;
#pragma unroll
  for (int k = 0; k < STEP; k++) {
    const float low = value[k], high = value[k + STEP];
    value[k] = (upper ? high : low) + __shfl_xor_sync(~0u, upper ? low : high, STEP);
  }
  if constexpr (STEP > 1) add_halves<STEP / 2>(value);
}

/** Write the sums of N values over a warp, in a fixed order: 32 sums at a time, of which each lane
 * gets one. */
template <int N> static __device__ inline void store_sums(const float *value, float *sum) {
  const uint32_t lane = threadIdx.x % WARP;
#pragma unroll
  for (int first = 0; first < N; first += WARP) {
    float part[WARP];
#pragma unroll
    for (int k = 0; k < WARP; k++)
      part[k] = first + k < N ? value[first + k < N ? first + k : 0] : 0.0f;
    add_halves<WARP / 2>(part);
    if (first + lane < N) sum[first + lane] = part[0];
  }
}

/** Floats from one row to the next in shared memory: odd, so that lanes that read the same place of their rows use
 * different banks. */
template <int SIZE> static constexpr int row_stride = SIZE | 1;

/** Copy the rows of SIZE floats of n nodes to shared memory, while the warp goes on: copies_wait(). */
template <int SIZE>
static __device__ inline void rows_in(float *rows, const float *tree, uint32_t n) {
  for (uint32_t i = threadIdx.x; i < n * SIZE; i += WARP)
    copy_ahead(rows + i / SIZE * row_stride<SIZE> + i % SIZE, tree + i);
}
/** Copy them back. */
template <int SIZE>
static __device__ inline void rows_out(const float *rows, float *tree, uint32_t n) {
  for (uint32_t i = threadIdx.x; i < n * SIZE; i += WARP)
    tree[i] = rows[i / SIZE * row_stride<SIZE> + i % SIZE];
}

#endif
