/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: sums of lanes and warps become results. */
#ifndef PHOTONS_CUDA_TREE_P2P_RESULTS_CUH
#define PHOTONS_CUDA_TREE_P2P_RESULTS_CUH

#include "cuda/tree/p2p_lists.cuh"

/** Component c of the result for a target. */
template <typename real>
static __device__ inline void write(const struct p2p_problem &p, uint32_t c, uint32_t target,
                                    real sum) {
  p.acceleration[((size_t)blockIdx.y * p.components + c) * p.count + target] = p.factor *
                                                                               float(sum);
}

/** Add up the sums of the parts of each target, whose total the first part then has. */
template <typename real, int T>
static __device__ inline void add_parts(struct targets<real, T> &t, uint32_t lanes,
                                        uint32_t parts) {
  const uint32_t lane = threadIdx.x % WARP, part = lane / lanes;
  for (uint32_t half; parts > 1; parts = half) {
    half = (parts + 1) / 2;
    const bool adds = part + half < parts;
    const uint32_t other = (lane + half * lanes) % WARP;
    const auto add = [&](real &sum) {
      const real more = __shfl_sync(~0u, sum, other);
      if (adds) sum += more;
    };
#pragma unroll
    for (int j = 0; j < T; j++) {
#pragma unroll
      for (int c = 0; c < P2P_TIDE; c++) add(t.a[j][c]);
      add(t.tide[j]);
    }
  }
}

/** Call put(c, i, sum) for component c of this lane's target number i. */
template <typename real, int T, typename Put>
static __device__ inline void each_sum(const struct targets<real, T> &t, uint32_t lanes, Put put) {
  const uint32_t lane = threadIdx.x % WARP;
  if (lane >= lanes) return;
#pragma unroll
  for (int j = 0; j < T; j++) {
#pragma unroll
    for (int c = 0; c < P2P_TIDE; c++) put(c, j * lanes + lane, t.a[j][c]);
    put(P2P_TIDE, j * lanes + lane, t.tide[j]);
  }
}

/** Add up the sums of the warps, and write the results for n targets from `first` on. */
template <typename real, bool MIXED, int T, bool QUARTERS>
static __device__ void store(const struct p2p_problem &p, const struct targets<real, T> &t,
                             union workspace<real, MIXED, T, QUARTERS> *work, uint32_t first,
                             uint32_t n, uint32_t lanes) {
  __syncwarp();
  each_sum(t, lanes,
           [&](int c, uint32_t i, real sum) { work[threadIdx.x / WARP].sum[c][i] = sum; });
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < p.components * n; k += BLOCK) {
    const uint32_t c = k / n, i = k % n;
    real total = work[0].sum[c][i];
    for (int w = 1; w < WARPS; w++) total += work[w].sum[c][i];
    write(p, c, first + i, total);
  }
  __syncthreads();
}

#endif
