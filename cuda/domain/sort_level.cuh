/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: the nodes of a level, their particles and their boxes. */
#ifndef PHOTONS_CUDA_DOMAIN_SORT_LEVEL_CUH
#define PHOTONS_CUDA_DOMAIN_SORT_LEVEL_CUH

#include "cuda/domain/gpu_domain.h"
#include "cuda/domain/targets.cuh"
#include "cuda/runtime/gpu.cuh"

enum {
  BLOCK = 256,
  COORDINATE_BITS = 16,
  /* Large nodes: histograms of one digit of the coordinates after the other; a CUDA block has a chunk of the
   * places of one node, and each of its warps some rows of these. */
  DIGIT_BITS = COORDINATE_BITS / 2,
  BINS = 1 << DIGIT_BITS,
  WARPS = BLOCK / WARP,
  ROWS = 8,
  CHUNK = ROWS * BLOCK,
  GRID_LEVELS = 15 /* a grid has fewer than 2^16 CUDA blocks along y and z */
};
static_assert(BINS == BLOCK, "a thread for each value of a digit");

/** Where a node is cut: the two digits of the coordinate. All particles with smaller coordinates go to the first
 * side. So do rest[0] of those with the first digit, which include rest[1] of those with both digits. */
struct cut {
  uint32_t digit[2], rest[2];
};

/** A chunk's particles with coordinates below the cut, and at it. */
struct part {
  uint32_t below, at;
};

/** What the kernels know of a group whose particles are in the order of one level's nodes. A node's number is
 * that of a tree: 2^level + its number on the level. */
struct level {
  uint32_t count;
  unsigned level;
  const uint32_t *x;
  const struct node *root; /* coordinates count from its centre, which is less than half a box from
                              every particle */
  const uint32_t *order;   /* [place] particle; NULL: the particles are where they were at first */
  uint32_t *low, *high;    /* [node][3] */
  /* of large nodes: */
  uint16_t *key;     /* [place] coordinate along the longest side of the node's box */
  uint32_t *digits;  /* [node][2][BINS] histograms of first digits, and of the cut's second ones */
  struct cut *cut;   /* [node] */
  struct part *part; /* [node of the level][chunk] */
};

static __device__ inline uint32_t particle_at(const struct level &l, uint32_t place) {
  return l.order ? __ldg(l.order + place) : place;
}

static __device__ inline uint32_t coordinate(const struct level &l, uint32_t particle, uint32_t c) {
  return __ldg(l.x + (size_t)c * l.count + particle) - __ldg(&l.root->centre[c]) + (1u << 31);
}

/** The places of a CUDA block, of which there are gridDim.x for each node of the level (node_grid()). */
struct chunk {
  uint32_t node, begin, end; /* the node and its places */
  uint32_t middle;           /* first place of the second half */
  uint32_t first;            /* place of this thread in the first row of its warp */
};

static __device__ inline struct chunk this_chunk(const struct level &l) {
  const uint32_t j = blockIdx.z << GRID_LEVELS | blockIdx.y, warp = threadIdx.x / WARP,
                 lane = threadIdx.x % WARP;
  struct chunk c;
  c.node = (1u << l.level) + j;
  c.begin = level_first(l.count, l.level, j);
  c.end = level_first(l.count, l.level, j + 1);
  c.middle = level_first(l.count, l.level + 1, 2 * j + 1);
  c.first = c.begin + blockIdx.x * CHUNK + warp * ROWS * WARP + lane;
  return c;
}

/** A CUDA block for each chunk of each node of the level. */
static dim3 node_grid(const struct level &l) {
  const unsigned more = l.level > GRID_LEVELS ? l.level - GRID_LEVELS : 0;
  return dim3(blocks_for(((l.count - 1) >> l.level) + 1, CHUNK), 1u << (l.level - more),
              1u << more);
}

static __device__ inline struct part *parts_of(const struct level &l, const struct chunk &c) {
  return l.part + (size_t)(c.node - (1u << l.level)) * gridDim.x;
}

/** The box of some particles. */
struct extent {
  uint32_t low[3], high[3];
};
static __device__ inline void clear(struct extent *e) {
  for (int c = 0; c < 3; c++) {
    e->low[c] = ~0u;
    e->high[c] = 0;
  }
}
static __device__ inline void include(struct extent *e, const uint32_t x[3]) {
  for (int c = 0; c < 3; c++) {
    e->low[c] = min(e->low[c], x[c]);
    e->high[c] = max(e->high[c], x[c]);
  }
}

/** Widen the boxes of nodes, of which the first is number `node`, by those of all threads. Most CUDA blocks
 * find boxes that lie within those found before. */
template <int NODES>
static __device__ inline void widen(const struct level &l, uint32_t node,
                                    const struct extent (&e)[NODES]) {
  __shared__ uint32_t low[3 * NODES], high[3 * NODES];
  const uint32_t me = threadIdx.x;
  if (me < 3 * NODES) {
    low[me] = ~0u;
    high[me] = 0;
  }
  __syncthreads();
  for (int i = 0; i < NODES; i++)
    for (int c = 0; c < 3; c++) {
      const uint32_t lowest = warp_min(e[i].low[c]), highest = warp_max(e[i].high[c]);
      if (me % WARP > 0) continue;
      atomicMin(&low[3 * i + c], lowest);
      atomicMax(&high[3 * i + c], highest);
    }
  __syncthreads();
  if (me >= 3 * NODES) return;
  /* volatile: not an older value from this multiprocessor's cache, after which more atomic operations would follow */
  volatile uint32_t *lowest = l.low + 3 * (size_t)node + me,
                    *highest = l.high + 3 * (size_t)node + me;
  if (low[me] < *lowest) atomicMin((uint32_t *)lowest, low[me]);
  if (high[me] > *highest) atomicMax((uint32_t *)highest, high[me]);
}

/** Along the longest side of a node, and how far its coordinates are shifted to have so many bits. Of sides
 * that differ by less than a sixteenth, x is preferred to y and y to z. */
struct direction {
  uint32_t axis, low;
  int shift;
};

static __device__ inline struct direction direction_of(const uint32_t low[3],
                                                       const uint32_t high[3], unsigned bits) {
  struct direction d = {0, low[0], 0};
  uint64_t longest = 0;
  uint32_t length = 0;
  for (uint32_t c = 0; c < 3; c++) {
    const uint64_t side = (uint64_t)(high[c] - low[c]) * (17 - c) / 16;
    if (side <= longest) continue;
    longest = side;
    length = high[c] - low[c];
    d.axis = c;
    d.low = low[c];
  }
  d.shift = max(32 - __clz((int)length) - (int)bits, 0);
  return d;
}

#endif
