/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: a CUDA block sorts a small node, for all levels below it. */
#ifndef PHOTONS_CUDA_DOMAIN_SORT_SMALL_CUH
#define PHOTONS_CUDA_DOMAIN_SORT_SMALL_CUH

#include <cub/block/block_radix_sort.cuh>

#include "cuda/domain/sort_level.cuh"

enum {
  /* A key: which node of the level, the coordinate, and the particle's place at first */
  PLACE_BITS = 10,
  SMALL = 1 << PLACE_BITS,
  SMALL_BITS = 14, /* of the coordinate */
  SMALL_LEVELS = 6,
  SMALL_NODES = 1 << SMALL_LEVELS, /* more than of any level that is sorted so */
  ITEMS = SMALL / BLOCK
};
static_assert(SMALL_LEVELS + SMALL_BITS + PLACE_BITS <= 32, "a key fits");
typedef cub::BlockRadixSort<uint32_t, BLOCK, ITEMS> block_sort;

/** A small node in CUDA shared memory. */
struct small_node {
  block_sort::TempStorage storage;
  uint32_t x[3][SMALL], particle[SMALL]; /* in the order at first */
  uint16_t order[SMALL];                 /* place at first of the particle at each place */
  uint32_t low[3 * SMALL_NODES], high[3 * SMALL_NODES];
};

/** Boxes of the nodes that hold this thread's places, of which the k-th is in node[k].
 * @param n  number of this thread's places */
static __device__ inline void measure_small(struct small_node *s, const uint32_t node[ITEMS],
                                            uint32_t first, int n) {
  const uint32_t lane = threadIdx.x % WARP, of_warp = __shfl_sync(~0u, node[0], 0);
  const bool one = n == ITEMS && node[0] == of_warp && node[ITEMS - 1] == of_warp;
  const bool all = __all_sync(~0u, one);
  for (uint32_t c = 0; c < 3; c++) {
    uint32_t low = ~0u, high = 0;
    for (int k = 0; k < n; k++) {
      const uint32_t x = s->x[c][s->order[first + k]];
      low = all ? min(low, x) : x;
      high = all ? max(high, x) : x;
      if (all) continue;
      atomicMin(&s->low[3 * node[k] + c], low);
      atomicMax(&s->high[3 * node[k] + c], high);
    }
    if (!all) continue;
    low = warp_min(low);
    high = warp_max(high);
    if (lane > 0) continue;
    atomicMin(&s->low[3 * of_warp + c], low);
    atomicMax(&s->high[3 * of_warp + c], high);
  }
}

/** Sort a node of l.level, which has at most SMALL particles, for that level and those below it. */
static __global__ void __launch_bounds__(BLOCK)
    sort_small(const struct level l, unsigned levels, uint32_t *order) {
  __shared__ struct small_node s;
  const uint32_t begin = level_first(l.count, l.level, blockIdx.x),
                 count = level_first(l.count, l.level, blockIdx.x + 1) - begin,
                 first = threadIdx.x * ITEMS,
                 n = first < count ? min(count - first, (uint32_t)ITEMS) : 0;
  for (uint32_t i = threadIdx.x; i < count; i += BLOCK) {
    s.particle[i] = particle_at(l, begin + i);
    s.order[i] = (uint16_t)i;
    for (uint32_t c = 0; c < 3; c++) s.x[c][i] = coordinate(l, s.particle[i], c);
  }
  for (unsigned level = l.level; level < levels; level++) {
    const int bits = PLACE_BITS + SMALL_BITS + (int)(level - l.level);
    uint32_t node[ITEMS] = {0}, key[ITEMS];
    for (uint32_t k = threadIdx.x; k < 3 * SMALL_NODES; k += BLOCK) {
      s.low[k] = ~0u;
      s.high[k] = 0;
    }
    for (uint32_t k = 0; k < n; k++)
      node[k] = level_node(l.count, level, begin + first + k) - (blockIdx.x << (level - l.level));
    __syncthreads();
    measure_small(&s, node, first, (int)n);
    __syncthreads();
    for (uint32_t k = 0; k < ITEMS; k++) {
      key[k] = ~0u; /* no particle: stays behind the others, also those with the same bits */
      if (k >= n) continue;
      const struct direction d = direction_of(s.low + 3 * node[k], s.high + 3 * node[k],
                                              SMALL_BITS);
      const uint32_t at = s.order[first + k], along = (s.x[d.axis][at] - d.low) >> d.shift;
      key[k] = (node[k] << SMALL_BITS | along) << PLACE_BITS | at;
    }
    block_sort(s.storage).SortBlockedToStriped(key, PLACE_BITS, bits);
    for (uint32_t k = 0; k < ITEMS; k++)
      if (k * BLOCK + threadIdx.x < count)
        s.order[k * BLOCK + threadIdx.x] = (uint16_t)(key[k] & (SMALL - 1));
    __syncthreads();
  }
  for (uint32_t i = threadIdx.x; i < count; i += BLOCK) order[begin + i] = s.particle[s.order[i]];
}

#endif
