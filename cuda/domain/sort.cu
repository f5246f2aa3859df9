/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: the order of the particles in a group's tree, level by level. The particles of every node are cut
 * in two at the median along the longest side of their box: histograms of the coordinates find the cut, and
 * then the particles move to its two sides. Once nodes are small, a CUDA block sorts a node for all levels
 * below in CUDA shared memory. Particles on one side keep their order, so that those which were sorted before
 * are read from places close together.
 * Coordinates along the longest side have 16 bits, in small nodes 14, so a cut may miss the median by
 * 2^-16 or 2^-14 of the side. */
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

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
  GRID_LEVELS = 15, /* a grid has fewer than 2^16 CUDA blocks along y and z */
  /* A key in a small node: which node of the level, the coordinate, and the particle's place at first */
  PLACE_BITS = 10,
  SMALL = 1 << PLACE_BITS,
  SMALL_BITS = 14, /* of the coordinate */
  SMALL_LEVELS = 6,
  SMALL_NODES = 1 << SMALL_LEVELS, /* more than of any level that is sorted so */
  ITEMS = SMALL / BLOCK
};
static_assert(BINS == BLOCK, "a thread for each value of a digit");
static_assert(SMALL_LEVELS + SMALL_BITS + PLACE_BITS <= 32, "a key fits");
typedef cub::BlockRadixSort<uint32_t, BLOCK, ITEMS> block_sort;

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

/** The root's box. */
static __global__ void __launch_bounds__(BLOCK) measure(const struct level l) {
  const struct chunk k = this_chunk(l);
  struct extent e[1];
  clear(&e[0]);
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP, particle = particle_at(l, min(place, k.end - 1)),
                   x[3] = {coordinate(l, particle, 0), coordinate(l, particle, 1),
                           coordinate(l, particle, 2)};
    include(&e[0], x);
  }
  widen(l, k.node, e);
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

/** Coordinates along the longest side of the node's box, and a histogram of their first digits. */
static __global__ void __launch_bounds__(BLOCK) make_keys(const struct level l) {
  __shared__ uint32_t number[BINS];
  const struct chunk k = this_chunk(l);
  const struct direction d = direction_of(l.low + 3 * (size_t)k.node, l.high + 3 * (size_t)k.node,
                                          COORDINATE_BITS);
  number[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    if (place >= k.end) continue;
    const uint32_t key = (coordinate(l, particle_at(l, place), d.axis) - d.low) >> d.shift;
    l.key[place] = (uint16_t)key;
    atomicAdd(&number[key >> DIGIT_BITS], 1u);
  }
  __syncthreads();
  if (number[threadIdx.x])
    atomicAdd(&l.digits[2 * (size_t)k.node * BINS + threadIdx.x], number[threadIdx.x]);
}

/** Sum over the threads before this one in the CUDA block. */
static __device__ inline uint32_t sum_before(uint32_t a) {
  __shared__ uint32_t of_warp[WARPS];
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  uint32_t sum = a;
  for (uint32_t step = 1; step < WARP; step *= 2) {
    const uint32_t other = __shfl_up_sync(~0u, sum, step);
    sum += lane >= step ? other : 0;
  }
  __syncthreads();
  if (lane == WARP - 1) of_warp[warp] = sum;
  __syncthreads();
  for (uint32_t w = 0; w < warp; w++) sum += of_warp[w];
  return sum - a;
}

/** Where the first `rank` particles end: the digit of the last one, and how many with that digit are among
 * them. */
static __device__ inline uint2 find_digit(const uint32_t *number, uint32_t rank) {
  __shared__ uint2 found;
  if (threadIdx.x == 0) found = make_uint2(0, 0); /* rank 0: none is among them */
  const uint32_t mine = number[threadIdx.x], before = sum_before(mine);
  if (before < rank && rank <= before + mine) found = make_uint2(threadIdx.x, rank - before);
  __syncthreads();
  return found;
}

/** The first digit of the cut, and a histogram of the second digits of coordinates that have it. */
static __global__ void __launch_bounds__(BLOCK) count_digits(const struct level l) {
  __shared__ uint32_t number[BINS];
  const struct chunk k = this_chunk(l);
  uint32_t *digits = l.digits + 2 * (size_t)k.node * BINS;
  number[threadIdx.x] = 0;
  const uint2 first = find_digit(digits, k.middle - k.begin);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    l.cut[k.node].digit[0] = first.x;
    l.cut[k.node].rest[0] = first.y;
  }
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    if (place >= k.end) continue;
    const uint32_t key = l.key[place];
    if (key >> DIGIT_BITS == first.x) atomicAdd(&number[key % BINS], 1u);
  }
  __syncthreads();
  if (number[threadIdx.x]) atomicAdd(&digits[BINS + threadIdx.x], number[threadIdx.x]);
}

/** The second digit of the cut, and the chunk's particles below the cut and at it. */
static __global__ void __launch_bounds__(BLOCK) count_parts(const struct level l) {
  __shared__ struct part sum;
  const struct chunk k = this_chunk(l);
  struct cut *cut = &l.cut[k.node];
  if (threadIdx.x == 0) sum = {0, 0};
  const uint2 second = find_digit(l.digits + (2 * (size_t)k.node + 1) * BINS, cut->rest[0]);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    cut->digit[1] = second.x;
    cut->rest[1] = second.y;
  }
  const uint32_t at = cut->digit[0] << DIGIT_BITS | second.x;
  struct part mine = {0, 0};
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    if (place >= k.end) continue;
    mine.below += l.key[place] < at;
    mine.at += l.key[place] == at;
  }
  mine = {warp_sum(mine.below), warp_sum(mine.at)};
  if (threadIdx.x % WARP == 0) {
    atomicAdd(&sum.below, mine.below);
    atomicAdd(&sum.at, mine.at);
  }
  __syncthreads();
  if (threadIdx.x == 0) parts_of(l, k)[blockIdx.x] = sum;
}

static __device__ inline struct part operator+(const struct part &a, const struct part &b) {
  return {a.below + b.below, a.at + b.at};
}

/** Send the particles to their side of the cut, and measure the boxes of both sides. */
static __global__ void __launch_bounds__(BLOCK) divide(const struct level l, uint32_t *order) {
  __shared__ struct part of_earlier[WARPS], of_warp[WARPS];
  const struct chunk k = this_chunk(l);
  const struct cut cut = l.cut[k.node];
  const uint32_t at = cut.digit[0] << DIGIT_BITS | cut.digit[1], lane = threadIdx.x % WARP,
                 warp = threadIdx.x / WARP, lower_lanes = (1u << lane) - 1;
  const struct part *of_chunk = parts_of(l, k);
  struct part earlier = {0, 0}, mine = {0, 0}; /* of earlier chunks, of this warp */
  for (uint32_t i = threadIdx.x; i < blockIdx.x; i += BLOCK) earlier = earlier + of_chunk[i];
  uint32_t below[ROWS], equal[ROWS]; /* lanes */
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP, key = place < k.end ? l.key[place] : ~0u;
    below[row] = __ballot_sync(~0u, key < at);
    equal[row] = __ballot_sync(~0u, key == at);
    mine = mine + part{(uint32_t)__popc(below[row]), (uint32_t)__popc(equal[row])};
  }
  earlier = {warp_sum(earlier.below), warp_sum(earlier.at)};
  if (lane == 0) {
    of_earlier[warp] = earlier;
    of_warp[warp] = mine;
  }
  __syncthreads();
  struct part before = {0, 0}; /* this row */
  for (uint32_t w = 0; w < WARPS; w++) {
    before = before + of_earlier[w];
    if (w < warp) before = before + of_warp[w];
  }
  struct extent side[2];
  clear(&side[0]);
  clear(&side[1]);
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t place = k.first + row * WARP;
    /* earlier ones at the cut, and of the first side */
    const uint32_t tied = before.at + __popc(equal[row] & lower_lanes),
                   first = before.below + __popc(below[row] & lower_lanes) + min(tied, cut.rest[1]);
    const bool is_below = below[row] >> lane & 1, is_at = equal[row] >> lane & 1,
               second = !is_below && !(is_at && tied < cut.rest[1]);
    before = before + part{(uint32_t)__popc(below[row]), (uint32_t)__popc(equal[row])};
    if (place >= k.end) continue;
    const uint32_t particle = particle_at(l, place),
                   x[3] = {coordinate(l, particle, 0), coordinate(l, particle, 1),
                           coordinate(l, particle, 2)};
    order[second ? k.middle + (place - k.begin) - first : k.begin + first] = particle;
    if (second)
      include(&side[1], x);
    else
      include(&side[0], x);
  }
  widen(l, 2 * k.node, side);
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

/** Bytes of the widest column for each particle. */
static size_t widest_column() {
  size_t widest = 0;
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    widest = max(widest, particle_column_bytes(&particle_columns[k]));
  return widest;
}

/** Memory of a sort, one table after the other in `room`. Returns the bytes. */
static size_t tables_of_sort(uint32_t count, unsigned small, void *room, struct level *l,
                             uint32_t *order[2], void **values) {
  const size_t nodes = (size_t)2 << small, parts = nodes + count / CHUNK;
  size_t bytes = 0;
  const auto table = [&](size_t n) {
    char *const at = room ? (char *)room + bytes : NULL;
    bytes += (n + 255) / 256 * 256;
    return (void *)at;
  };
  l->low = (uint32_t *)table(3 * nodes * sizeof *l->low);
  l->high = (uint32_t *)table(3 * nodes * sizeof *l->high);
  l->digits = (uint32_t *)table(nodes * BINS * sizeof *l->digits);
  l->cut = (struct cut *)table(nodes * sizeof *l->cut);
  l->part = (struct part *)table(parts * sizeof *l->part);
  l->key = (uint16_t *)table(count * sizeof *l->key);
  for (int i = 0; i < 2; i++) order[i] = (uint32_t *)table(count * sizeof *order[i]);
  *values = table(count * widest_column());
  return bytes;
}

void gpu_sort(struct gpu *g, uint32_t count, unsigned depth, const struct node *nodes,
              void *const column[PARTICLE_COLUMN_COUNT]) {
  unsigned levels = depth, small = 0;
  while (((count - 1) >> levels) + 1 > (P2P_TARGETS_MOST >> QUARTER_LEVELS)) levels++;
  while (((count - 1) >> small) + 1 > SMALL || small + SMALL_LEVELS < levels) small++;
  struct level l = {};
  uint32_t *order[2];
  void *values,
      *room = gpu_scratch(g, SCRATCH_SORT, tables_of_sort(count, small, NULL, &l, order, &values));
  tables_of_sort(count, small, room, &l, order, &values);
  l.count = count;
  l.x = (const uint32_t *)column[COLUMN_position];
  l.root = nodes + 1;
  const size_t boxes = ((size_t)6 << small) * sizeof *l.low;
  CHECK_CUDA(cudaMemsetAsync(l.low, 0xff, boxes, g->stream));
  CHECK_CUDA(cudaMemsetAsync(l.high, 0, boxes, g->stream));
  CHECK_CUDA(
      cudaMemsetAsync(l.digits, 0, ((size_t)2 << small) * BINS * sizeof *l.digits, g->stream));
  measure<<<node_grid(l), BLOCK, 0, g->stream>>>(l);
  gpu_launched("sort");
  for (; l.level != small; l.level++) {
    const dim3 grid = node_grid(l);
    make_keys<<<grid, BLOCK, 0, g->stream>>>(l);
    count_digits<<<grid, BLOCK, 0, g->stream>>>(l);
    count_parts<<<grid, BLOCK, 0, g->stream>>>(l);
    uint32_t *const divided = order[(l.level + 1) % 2];
    divide<<<grid, BLOCK, 0, g->stream>>>(l, divided);
    gpu_launched("sort");
    l.order = divided;
  }
  uint32_t *const sorted = order[(small + 1) % 2];
  sort_small<<<1u << small, BLOCK, 0, g->stream>>>(l, levels, sorted);
  gpu_launched("sort");
  rearrange_all(g, count, sorted, column, values);
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
  const size_t wide = (widest_column() + 3) / 4;
  cub::DoubleBuffer<uint32_t> key(NULL, NULL), order(NULL, NULL);
  size_t bytes;
  sort_pairs(g, NULL, &bytes, key, order, count, bits);
  uint32_t *room = (uint32_t *)gpu_scratch(g, SCRATCH_SORT,
                                           (4 + wide) * places * sizeof *room + bytes);
  for (int i = 0; i < 2; i++) {
    key.d_buffers[i] = room + (size_t)i * places;
    order.d_buffers[i] = room + (size_t)(2 + i) * places;
  }
  void *values = room + 4 * places, *temporary = room + (4 + wide) * places;
  key_sides<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, side, key.Current(),
                                                               order.Current());
  gpu_launched("part_order");
  sort_pairs(g, temporary, &bytes, key, order, count, bits); /* keeps the order of equal keys */
  rearrange_all(g, count, order.Current(), column, values);
}
