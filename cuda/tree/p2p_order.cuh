/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: the target blocks, and the order in which they begin. */
#ifndef PHOTONS_CUDA_TREE_P2P_ORDER_CUH
#define PHOTONS_CUDA_TREE_P2P_ORDER_CUH

#include "cuda/domain/targets.cuh"
#include "cuda/tree/p2p.cuh"

/* A block of packed targets has at most as many as two a lane can hold. */
enum { PACKED_MOST = P2P_TARGETS_MOST < 2 * WARP ? P2P_TARGETS_MOST : 2 * WARP };
enum { LENGTHS = 256, /* the ordering distinguishes list lengths up to it */ ORDER_BLOCK = 1024 };

/** Number of a leaf's target blocks. */
static __device__ inline uint32_t blocks_of(const struct p2p_problem &p, uint32_t leaf) {
  if (p.first) return (p.first[leaf + 1] - p.first[leaf] + PACKED_MOST - 1) / PACKED_MOST;
  return 1u << (p.block_level - p.depth);
}

/** The k-th of a leaf's n target blocks. */
static __device__ inline struct target_block block_of(const struct p2p_problem &p, uint32_t leaf,
                                                      uint32_t n, uint32_t k) {
  if (!p.first)
    return {leaf, level_first(p.count, p.block_level, leaf * n + k),
            level_first(p.count, p.block_level, leaf * n + k + 1)};
  const uint32_t begin = p.first[leaf], count = p.first[leaf + 1] - begin;
  return {leaf, begin + (uint32_t)((uint64_t)count * k / n),
          begin + (uint32_t)((uint64_t)count * (k + 1) / n)};
}

/** List the target blocks by falling length of their leaves' lists: the longest work begins first,
 * so that no multiprocessor waits for it at the end. The order of leaves of equal length varies
 * between runs and changes no result. */
static __global__ void __launch_bounds__(ORDER_BLOCK)
    order_leaves(const __grid_constant__ struct p2p_problem p) {
  __shared__ uint32_t longest, first[LENGTHS];
  const uint32_t me = threadIdx.x, leaves = 1u << p.depth, *offset = p.offset;
  if (me < LENGTHS) first[me] = 0;
  if (me == 0) longest = 1;
  __syncthreads();
  for (uint32_t i = me; i < leaves; i += ORDER_BLOCK)
    atomicMax(&longest, offset[i + 1] - offset[i]);
  __syncthreads();
  const auto rank = [&](uint32_t i) {
    return (uint32_t)((uint64_t)(longest - (offset[i + 1] - offset[i])) * (LENGTHS - 1) / longest);
  };
  for (uint32_t i = me; i < leaves; i += ORDER_BLOCK) atomicAdd(&first[rank(i)], blocks_of(p, i));
  __syncthreads();
  if (me < WARP) { /* counts to offsets */
    uint32_t sum = 0;
    for (uint32_t k = me * (LENGTHS / WARP); k < (me + 1) * (LENGTHS / WARP); k++) sum += first[k];
    uint32_t before = sum;
    for (uint32_t step = 1; step < WARP; step *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, before, step);
      before += me >= step ? other : 0;
    }
    before -= sum;
    for (uint32_t k = me * (LENGTHS / WARP); k < (me + 1) * (LENGTHS / WARP); k++) {
      const uint32_t n = first[k];
      first[k] = before;
      before += n;
    }
  }
  __syncthreads();
  for (uint32_t i = me; i < leaves; i += ORDER_BLOCK) {
    const uint32_t n = blocks_of(p, i), at = atomicAdd(&first[rank(i)], n);
    for (uint32_t k = 0; k < n; k++) p.order[at + k] = block_of(p, i, n, k);
  }
  __syncthreads();
  for (uint32_t i = first[LENGTHS - 1] + me; i < p.blocks; i += ORDER_BLOCK) p.order[i] = {0, 0, 0};
}

#endif
