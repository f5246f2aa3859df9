/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: the order of the particles in a group's tree. For each level: measure the boxes of the
 * nodes, then sort all particles at once by node and, within a node, along the node's longest side.
 * Once nodes are small, a CUDA block sorts a node for all levels below in CUDA shared memory.
 * Coordinates along the longest side have 16 bits, so a cut may miss the median by 2^-16 of the
 * side. */
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "cuda/domain/gpu_domain.h"
#include "cuda/domain/targets.cuh"
#include "cuda/runtime/gpu.cuh"

enum {
  BLOCK = 256,
  ROWS = 16 /* rows of places in which a warp measures boxes */,
  COORDINATE_BITS = 16,
  /* A key in a small node: which node of the level, the coordinate, and the particle's place at first */
  PLACE_BITS = 10,
  SMALL = 1 << PLACE_BITS,
  SMALL_LEVELS = 32 - PLACE_BITS - COORDINATE_BITS,
  SMALL_NODES = 1 << SMALL_LEVELS, /* more than of any level that is sorted so */
  ITEMS = SMALL / BLOCK
};
typedef cub::BlockRadixSort<uint32_t, BLOCK, ITEMS> block_sort;

/** What the kernels know of a group whose particles are in the order of one level's nodes. */
struct level {
  uint32_t count;
  unsigned level;
  const uint32_t *x;
  const struct node *root; /* coordinates count from its centre, which is less than half a box from
                              every particle */
  const uint32_t *order;   /* [place] particle */
  uint32_t *low, *high;    /* [node][3] */
};

static __device__ inline uint32_t coordinate(const struct level &l, uint32_t particle, uint32_t c) {
  return l.x[(size_t)c * l.count + particle] - l.root->centre[c] + (1u << 31);
}

static __device__ inline void widen(const struct level &l, uint32_t node, const uint32_t low[3],
                                    const uint32_t high[3]) {
  for (uint32_t c = 0; c < 3; c++) {
    atomicMin(&l.low[3 * (size_t)node + c], low[c]);
    atomicMax(&l.high[3 * (size_t)node + c], high[c]);
  }
}

/** A warp walks through its places row by row and updates a node's box when it leaves the node. */
static __global__ void __launch_bounds__(BLOCK) measure(const struct level l) {
  const uint32_t lane = threadIdx.x % WARP, warp = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
  const uint64_t begin = (uint64_t)warp * ROWS * WARP;
  uint32_t low[3] = {~0u, ~0u, ~0u}, high[3] = {0, 0, 0}, node = ~0u;
  const auto tell = [&] {
    if (node == ~0u) return;
    for (uint32_t c = 0; c < 3; c++) {
      low[c] = warp_min(low[c]);
      high[c] = warp_max(high[c]);
    }
    if (lane == 0) widen(l, node, low, high);
  };
  for (uint64_t row = begin; row < begin + ROWS * WARP && row < l.count; row += WARP) {
    const uint32_t place = (uint32_t)min(row + lane, (uint64_t)l.count - 1),
                   mine = level_node(l.count, l.level, place), particle = l.order[place];
    uint32_t x[3];
    for (uint32_t c = 0; c < 3; c++) x[c] = coordinate(l, particle, c);
    const uint32_t first = __shfl_sync(~0u, mine, 0);
    if (!__all_sync(~0u, mine == first)) { /* several nodes in this row of places */
      widen(l, mine, x, x);
      continue;
    }
    if (first != node) {
      tell();
      node = first;
      for (uint32_t c = 0; c < 3; c++) {
        low[c] = ~0u;
        high[c] = 0;
      }
    }
    for (uint32_t c = 0; c < 3; c++) {
      low[c] = min(low[c], x[c]);
      high[c] = max(high[c], x[c]);
    }
  }
  tell();
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

/** Keys that order the particles of every node along the node's longest side. */
static __global__ void __launch_bounds__(BLOCK)
    make_keys(const struct level l, unsigned bits, uint32_t *key) {
  const uint32_t place = blockIdx.x * BLOCK + threadIdx.x;
  if (place >= l.count) return;
  const uint32_t node = level_node(l.count, l.level, place);
  const struct direction d = direction_of(l.low + 3 * (size_t)node, l.high + 3 * (size_t)node,
                                          bits);
  key[place] = node << bits | (coordinate(l, l.order[place], d.axis) - d.low) >> d.shift;
}

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
    s.particle[i] = l.order[begin + i];
    s.order[i] = (uint16_t)i;
    for (uint32_t c = 0; c < 3; c++) s.x[c][i] = coordinate(l, s.particle[i], c);
  }
  for (unsigned level = l.level; level < levels; level++) {
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
      key[k] = ~0u; /* no particle: stays behind the others */
      if (k >= n) continue;
      const struct direction d = direction_of(s.low + 3 * node[k], s.high + 3 * node[k],
                                              COORDINATE_BITS);
      const uint32_t at = s.order[first + k], along = (s.x[d.axis][at] - d.low) >> d.shift;
      key[k] = (node[k] << COORDINATE_BITS | along) << PLACE_BITS | at;
    }
    block_sort(s.storage).SortBlockedToStriped(key, PLACE_BITS, 32);
    for (uint32_t k = 0; k < ITEMS; k++)
      if (k * BLOCK + threadIdx.x < count)
        s.order[k * BLOCK + threadIdx.x] = (uint16_t)(key[k] & (SMALL - 1));
    __syncthreads();
  }
  for (uint32_t i = threadIdx.x; i < count; i += BLOCK) order[begin + i] = s.particle[s.order[i]];
}

static __global__ void __launch_bounds__(BLOCK) number(uint32_t count, uint32_t *order) {
  const uint32_t place = blockIdx.x * BLOCK + threadIdx.x;
  if (place < count) order[place] = place;
}

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    gather(uint32_t count, uint32_t columns, const uint32_t *order, const T *from, T *to) {
  const uint32_t place = blockIdx.x * BLOCK + threadIdx.x;
  if (place >= count) return;
  for (uint32_t c = 0; c < columns; c++)
    to[(size_t)c * count + place] = from[(size_t)c * count + order[place]];
}

template <typename T>
static void rearrange(struct gpu *g, uint32_t count, uint32_t columns, const uint32_t *order,
                      T *values, void *room) {
  gather<T>
      <<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, columns, order, values, (T *)room);
  gpu_launched("sort");
  gpu_copy(g, values, room, (size_t)columns * count * sizeof(T));
}

/** Bring all columns in an order. @param room  for the widest column */
static void rearrange_all(struct gpu *g, uint32_t count, const uint32_t *order,
                          void *const column[PARTICLE_COLUMN_COUNT], void *room) {
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) {
    const struct particle_column *c = &particle_columns[k];
    if (!column[k]) continue;
    if (c->size == 8)
      rearrange(g, count, c->components, order, (uint64_t *)column[k], room);
    else if (c->size == 4)
      rearrange(g, count, c->components, order, (uint32_t *)column[k], room);
    else
      rearrange(g, count, c->components, order, (uint8_t *)column[k], room);
  }
}

static void sort_pairs(struct gpu *g, void *room, size_t *bytes, cub::DoubleBuffer<uint32_t> &key,
                       cub::DoubleBuffer<uint32_t> &order, uint32_t count, unsigned bits) {
  CHECK_CUDA(
      cub::DeviceRadixSort::SortPairs(room, *bytes, key, order, count, 0, (int)bits, g->stream));
}

/** Size of the widest column, in 4-byte words for each particle. */
static size_t widest_words() {
  size_t widest = 0;
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    widest = max(widest, particle_column_bytes(&particle_columns[k]));
  return (widest + 3) / 4;
}

void gpu_sort(struct gpu *g, uint32_t count, unsigned depth, const struct node *nodes,
              void *const column[PARTICLE_COLUMN_COUNT]) {
  const uint32_t *x = (const uint32_t *)column[COLUMN_position];
  const size_t wide = widest_words();
  unsigned levels = depth, small = 0;
  while (((count - 1) >> levels) + 1 > (P2P_TARGETS_MOST >> QUARTER_LEVELS)) levels++;
  while (((count - 1) >> small) + 1 > SMALL || small + SMALL_LEVELS < levels) small++;
  const size_t boxes = 3 * ((size_t)1 << small), places = ((size_t)count + 63) / 64 * 64;
  cub::DoubleBuffer<uint32_t> key(NULL, NULL), order(NULL, NULL);
  size_t bytes;
  sort_pairs(g, NULL, &bytes, key, order, count, 32);
  uint32_t *room = (uint32_t *)gpu_scratch(
      g, SCRATCH_SORT, ((4 + wide) * places + 2 * boxes) * sizeof *room + bytes);
  uint32_t *low = room + (4 + wide) * places;
  for (int i = 0; i < 2; i++) {
    key.d_buffers[i] = room + (size_t)i * places;
    order.d_buffers[i] = room + (size_t)(2 + i) * places;
  }
  void *values = room + 4 * places, *temporary = low + 2 * boxes;
  number<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, order.Current());
  gpu_launched("sort");
  for (unsigned level = 0; level < small; level++) {
    const struct level l = {count, level, x, nodes + 1, order.Current(), low, low + boxes};
    const unsigned bits = min((unsigned)COORDINATE_BITS, 32 - level);
    CHECK_CUDA(cudaMemsetAsync(l.low, 0xff, boxes * sizeof *low, g->stream));
    CHECK_CUDA(cudaMemsetAsync(l.high, 0, boxes * sizeof *low, g->stream));
    measure<<<blocks_for(((uint64_t)count + ROWS - 1) / ROWS, BLOCK), BLOCK, 0, g->stream>>>(l);
    gpu_launched("sort");
    make_keys<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(l, bits, key.Current());
    gpu_launched("sort");
    sort_pairs(g, temporary, &bytes, key, order, count, bits + level);
  }
  const struct level l = {count, small, x, nodes + 1, order.Current(), NULL, NULL};
  sort_small<<<1u << small, BLOCK, 0, g->stream>>>(l, levels, order.Current());
  gpu_launched("sort");
  rearrange_all(g, count, order.Current(), column, values);
}

static __global__ void __launch_bounds__(BLOCK)
    key_sides(uint32_t count, const uint16_t *side, uint32_t *key, uint32_t *order) {
  const uint32_t place = blockIdx.x * BLOCK + threadIdx.x;
  if (place >= count) return;
  key[place] = side[place];
  order[place] = place;
}

void gpu_order(struct gpu *g, uint32_t count, const uint16_t *side, uint32_t sides,
               void *const column[PARTICLE_COLUMN_COUNT]) {
  const size_t places = ((size_t)count + 63) / 64 * 64;
  unsigned bits = 1;
  while (1u << bits < sides) bits++;
  cub::DoubleBuffer<uint32_t> key(NULL, NULL), order(NULL, NULL);
  size_t bytes;
  sort_pairs(g, NULL, &bytes, key, order, count, bits);
  uint32_t *room = (uint32_t *)gpu_scratch(g, SCRATCH_SORT,
                                           (4 + widest_words()) * places * sizeof *room + bytes);
  for (int i = 0; i < 2; i++) {
    key.d_buffers[i] = room + (size_t)i * places;
    order.d_buffers[i] = room + (size_t)(2 + i) * places;
  }
  void *values = room + 4 * places, *temporary = room + (4 + widest_words()) * places;
  key_sides<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, side, key.Current(),
                                                               order.Current());
  gpu_launched("part_order");
  sort_pairs(g, temporary, &bytes, key, order, count, bits); /* keeps the order of equal keys */
  rearrange_all(g, count, order.Current(), column, values);
}
