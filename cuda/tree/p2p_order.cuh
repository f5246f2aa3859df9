/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: the target blocks, and the order in which they begin. */
#ifndef PHOTONS_CUDA_TREE_P2P_ORDER_CUH
#define PHOTONS_CUDA_TREE_P2P_ORDER_CUH

#include "cuda/domain/targets.cuh"
#include "cuda/tree/p2p.cuh"

/* A block of packed targets has at most as many as two a lane can hold. */
enum { PACKED_MOST = P2P_TARGETS_MOST < 2 * WARP ? P2P_TARGETS_MOST : 2 * WARP };
enum { RANKS = 256, ORDER_BLOCK = RANKS };

/** Number of a leaf's target blocks. */
static __device__ inline uint32_t blocks_of(const struct p2p_problem &p, uint32_t leaf) {
  if (p.first) return (p.first[leaf + 1] - p.first[leaf] + PACKED_MOST - 1) / PACKED_MOST;
  return 1u << (p.block_level - p.depth);
}

/** The k-th of a leaf's n target blocks, with the whole list. */
static __device__ inline struct target_block block_of(const struct p2p_problem &p, uint32_t leaf,
                                                      uint32_t n, uint32_t k) {
  if (!p.first)
    return {leaf,
            level_first(p.count, p.block_level, leaf * n + k),
            level_first(p.count, p.block_level, leaf * n + k + 1),
            0,
            1,
            0};
  const uint32_t begin = p.first[leaf], count = p.first[leaf + 1] - begin;
  return {leaf,
          begin + (uint32_t)((uint64_t)count * k / n),
          begin + (uint32_t)((uint64_t)count * (k + 1) / n),
          0,
          1,
          0};
}

static __device__ inline uint32_t list_length(const struct p2p_problem &p, uint32_t leaf) {
  return p.offset[leaf + 1] - p.offset[leaf];
}

/** Number of segments of a leaf's list. */
static __device__ inline uint32_t segments_of(const struct p2p_problem &p, uint32_t leaf) {
  return 1 + list_length(p, leaf) / p.longest;
}

/** Rank of a list by its length, the longest first: eight ranks for each doubling. */
static __device__ inline uint32_t rank_of(const struct p2p_problem &p, uint32_t leaf) {
  const uint32_t n = list_length(p, leaf);
  const unsigned doublings = 31 - __clz((int)(n | 7));
  return RANKS - 1 - (8 * (doublings - 2) + (n >> (doublings - 3 + (doublings < 3)) & 7));
}

/** Numbers of the target blocks of each rank. */
static __global__ void __launch_bounds__(ORDER_BLOCK)
    count_ranks(const __grid_constant__ struct p2p_problem p, uint32_t *of_rank) {
  __shared__ uint32_t here[RANKS];
  here[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t leaf = blockIdx.x * ORDER_BLOCK + threadIdx.x;
  if (leaf < 1u << p.depth)
    atomicAdd(&here[rank_of(p, leaf)], blocks_of(p, leaf) * segments_of(p, leaf));
  __syncthreads();
  if (here[threadIdx.x] > 0) atomicAdd(&of_rank[threadIdx.x], here[threadIdx.x]);
}

/** List the target blocks by falling length of their leaves' lists: the longest work begins first,
 * so that no multiprocessor waits for it at the end. The order of leaves of one rank varies
 * between runs and changes no result, and so do the places of the parts.
 * @param taken  [RANKS + 1] target blocks that are listed already, and parts that have a place, 0 at the
 *               start */
static __global__ void __launch_bounds__(ORDER_BLOCK)
    order_leaves(const __grid_constant__ struct p2p_problem p, const uint32_t *of_rank,
                 uint32_t *taken) {
  __shared__ uint32_t here[RANKS], first[RANKS], of_warp[RANKS / WARP];
  const uint32_t me = threadIdx.x, leaf = blockIdx.x * ORDER_BLOCK + me;
  const bool has_leaf = leaf < 1u << p.depth;
  const uint32_t rank = has_leaf ? rank_of(p, leaf) : 0, n = has_leaf ? blocks_of(p, leaf) : 0,
                 segments = has_leaf ? segments_of(p, leaf) : 1;
  uint32_t before = of_rank[me]; /* becomes the sum of all ranks before */
  for (uint32_t step = 1; step < WARP; step *= 2) {
    const uint32_t other = __shfl_up_sync(~0u, before, step);
    before += me % WARP >= step ? other : 0;
  }
  here[me] = 0;
  if (me % WARP == WARP - 1) of_warp[me / WARP] = before;
  __syncthreads();
  const uint32_t place = n > 0 ? atomicAdd(&here[rank], n * segments) : 0;
  before -= of_rank[me];
  for (uint32_t w = 0; w < me / WARP; w++) before += of_warp[w];
  __syncthreads();
  first[me] = before + (here[me] > 0 ? atomicAdd(&taken[me], here[me]) : 0);
  __syncthreads();
  struct target_block *next = p.order + first[rank] + place;
  uint32_t part = n > 0 && segments > 1 ? atomicAdd(&taken[RANKS], n * segments) : 0;
  for (uint32_t k = 0; k < n; k++, part += segments) {
    struct target_block block = block_of(p, leaf, n, k);
    block.segments = segments;
    block.part = part;
    for (; block.segment < segments; block.segment++) *next++ = block;
  }
  uint32_t all = 0;
  for (uint32_t w = 0; w < RANKS / WARP; w++) all += of_warp[w];
  for (uint32_t i = all + leaf; i < p.blocks; i += gridDim.x * ORDER_BLOCK) p.order[i] = {};
}

#endif
