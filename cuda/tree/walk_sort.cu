/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entries that the walk of isolated systems has found, in the order of their lists. Most lists are
 * sorted by a warp, long ones by a CUDA block. Where a list is longer than that, as wide leaves of few
 * targets have, all entries are sorted together. */
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "cuda/tree/walk_pairs.cuh"

#ifndef WALK_LONG_BLOCK
#define WALK_LONG_BLOCK 512
#endif
enum {
  BLOCK = 256,
  SORT_BLOCK = 128,
  LONG_BLOCK = WALK_LONG_BLOCK,
  LONG = 16 * LONG_BLOCK, /* entries of the longest list that a CUDA block sorts */
  SHORT = LONG / 8,       /* entries of the longest list that a warp sorts */
  LONG_BLOCKS = 264
};

/** Move entries that were kept to their places. */
static __global__ void __launch_bounds__(BLOCK)
    move_pairs(const __grid_constant__ struct pairs_problem p) {
  const uint32_t leaves = 1u << p.depth, thread = blockIdx.x * BLOCK + threadIdx.x,
                 entries = p.progress->entries;
  if (thread == 0) p.result->written = 1;
  for (uint32_t i = thread; i < entries; i += gridDim.x * BLOCK) {
    const struct kept_entry kept = p.far_kept[i];
    if (kept.target < leaves)
      p.room.near_entry[p.near_offset[kept.target] + kept.place] = kept.entry;
    else
      p.room.far_entry[p.far_offset[kept.target - leaves] + kept.place] = kept.entry;
  }
}

/** The list of a row. */
struct row_list {
  uint32_t *entry, count;
};
static __device__ inline struct row_list list_of(const struct pairs_problem &p, uint32_t row) {
  const uint32_t leaves = 1u << p.depth,
                 *offset = row < leaves ? p.near_offset + row : p.far_offset + (row - leaves);
  return {(row < leaves ? p.room.near_entry : p.room.far_entry) + offset[0], offset[1] - offset[0]};
}

/** A warp sorts a list of at most 2^LOG entries, bitonically (Batcher 1968): each lane has every 32nd one in its
 * registers. */
template <int LOG> static __device__ void sort_by_warp(const struct row_list &list) {
  constexpr int LOG_WARP = 5, ITEMS = 1 << (LOG - LOG_WARP);
  const uint32_t lane = threadIdx.x % WARP;
  uint32_t key[ITEMS];
#pragma unroll
  for (int m = 0; m < ITEMS; m++) {
    const uint32_t i = m * WARP + lane;
    key[m] = i < list.count ? list.entry[i] : UINT32_MAX;
  }
#pragma unroll
  for (int run = 1; run <= LOG;
       run++) /* runs of 2^run entries, which rise and fall in turn, become sorted */
#pragma unroll
    for (int step = run - 1; step >= 0; step--)
#pragma unroll
      for (int m = 0; m < ITEMS; m++) {
        const bool rises = run < LOG_WARP ? !(lane >> run & 1) : !(m << LOG_WARP >> run & 1);
        if (step < LOG_WARP) {
          const uint32_t other = __shfl_xor_sync(~0u, key[m], 1 << step);
          key[m] = !(lane >> step & 1) == rises ? min(key[m], other) : max(key[m], other);
        } else if (const int partner = m | 1 << (step - LOG_WARP); partner > m) {
          const uint32_t low = min(key[m], key[partner]), high = max(key[m], key[partner]);
          key[m] = rises ? low : high;
          key[partner] = rises ? high : low;
        }
      }
#pragma unroll
  for (int m = 0; m < ITEMS; m++) {
    const uint32_t i = m * WARP + lane;
    if (i < list.count) list.entry[i] = key[m];
  }
}

/** Warps sort the lists that are not long. */
static __global__ void __launch_bounds__(SORT_BLOCK)
    sort_short(const __grid_constant__ struct pairs_problem p) {
  const uint32_t row = (blockIdx.x * SORT_BLOCK + threadIdx.x) / WARP;
  if (!p.result->written || row >= 3u << p.depth) return;
  const struct row_list list = list_of(p, row);
  if (list.count > SHORT) {
    if (threadIdx.x % WARP == 0) p.long_row[atomicAdd(&p.progress->long_rows, 1)] = row;
    return;
  }
  if (list.count <= 1) return;
  if (list.count <= 32) return sort_by_warp<5>(list);
  if (list.count <= 64) return sort_by_warp<6>(list);
  if (list.count <= 128) return sort_by_warp<7>(list);
  if (list.count <= 256) return sort_by_warp<8>(list);
  if (list.count <= 512) return sort_by_warp<9>(list);
  static_assert(SHORT <= 1024, "a warp sorts so many entries");
  sort_by_warp<10>(list);
}

enum { ITEMS = LONG / LONG_BLOCK }; /* entries of a thread */
using block_sort = cub::BlockRadixSort<uint32_t, LONG_BLOCK, ITEMS>;

/** A CUDA block sorts a list. */
static __device__ inline void sort_list(const struct row_list &list, unsigned entry_bits,
                                        typename block_sort::TempStorage &storage) {
  const unsigned bits = min(entry_bits + 1, 32u); /* what fills up the list is above all entries */
  uint32_t key[ITEMS];
  for (uint32_t k = 0; k < ITEMS; k++) {
    const uint32_t i = k * LONG_BLOCK + threadIdx.x;
    key[k] = i < list.count ? list.entry[i] : UINT32_MAX;
  }
  block_sort(storage).SortBlockedToStriped(key, 0, (int)bits);
  for (uint32_t k = 0; k < ITEMS; k++) {
    const uint32_t i = k * LONG_BLOCK + threadIdx.x;
    if (i < list.count) list.entry[i] = key[k];
  }
}

/** CUDA blocks sort the long lists. */
static __global__ void __launch_bounds__(LONG_BLOCK)
    sort_long(const __grid_constant__ struct pairs_problem p) {
  __shared__ typename block_sort::TempStorage storage;
  for (uint32_t k = blockIdx.x; k < p.progress->long_rows; k += gridDim.x) {
    sort_list(list_of(p, p.long_row[k]), p.entry_bits, storage);
    __syncthreads();
  }
}

/** The entries of sorted keys: those of near lists come first. */
static __global__ void take_entries(const uint64_t *key, uint64_t near, uint64_t all,
                                    unsigned entry_bits, uint32_t *near_entry,
                                    uint32_t *far_entry) {
  const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all) return;
  const uint32_t entry = (uint32_t)(key[i] & ((1ull << entry_bits) - 1));
  if (i < near)
    near_entry[i] = entry;
  else
    far_entry[i - near] = entry;
}

/** Bits of a key: its row is one of the leaves and twice as many nodes. */
static int key_bits(const struct pairs_problem *p) { return (int)(p->entry_bits + p->depth + 2); }

/** Keys of entries that were kept. */
static __global__ void make_keys(const __grid_constant__ struct pairs_problem p, uint64_t all) {
  const uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i == 0) p.result->written = 1;
  if (i >= all) return;
  const struct kept_entry kept = p.far_kept[i];
  p.key[i] = (uint64_t)kept.target << p.entry_bits | kept.entry;
}

static void sort_together(struct gpu *g, struct pairs_problem *p,
                          const struct walk_result *lengths) {
  const uint64_t all = lengths->entries + lengths->interactions;
  const size_t cub_bytes = walk_sort_room(g, p, all);
  make_keys<<<blocks_for(all, BLOCK), BLOCK, 0, g->stream>>>(*p, all);
  gpu_launched("make_keys");
  p->near = p->room.near_entry;
  p->far = p->room.far_entry;
  walk_sort_all(g, p, lengths->entries, all, cub_bytes);
}

static void sort_each(struct gpu *g, struct pairs_problem *p) {
  const uint32_t rows = 3u << p->depth;
  p->long_row = (uint32_t *)gpu_scratch(g, SCRATCH_SORT, rows * sizeof *p->long_row);
  move_pairs<<<blocks_for(p->queue_room, BLOCK), BLOCK, 0, g->stream>>>(*p);
  gpu_launched("move_pairs");
  sort_short<<<blocks_for((uint64_t)rows * WARP, SORT_BLOCK), SORT_BLOCK, 0, g->stream>>>(*p);
  gpu_launched("sort_short");
  sort_long<<<LONG_BLOCKS, LONG_BLOCK, 0, g->stream>>>(*p);
  gpu_launched("sort_long");
}

void walk_sort_kept(struct gpu *g, struct pairs_problem *p, const struct walk_result *lengths) {
  if (lengths->longest > LONG)
    sort_together(g, p, lengths);
  else
    sort_each(g, p);
}

size_t walk_sort_room(struct gpu *g, struct pairs_problem *p, uint64_t all) {
  size_t bytes = 0;
  cub::DoubleBuffer<uint64_t> keys;
  CHECK_CUDA(cub::DeviceRadixSort::SortKeys(NULL, bytes, keys, all, 0, key_bits(p), g->stream));
  p->key = (uint64_t *)gpu_scratch(g, SCRATCH_SORT, 2 * all * sizeof *p->key + bytes);
  return bytes;
}

void walk_sort_all(struct gpu *g, const struct pairs_problem *p, uint64_t near, uint64_t all,
                   size_t cub_bytes) {
  cub::DoubleBuffer<uint64_t> keys(p->key, p->key + all);
  CHECK_CUDA(cub::DeviceRadixSort::SortKeys(p->key + 2 * all, cub_bytes, keys, all, 0, key_bits(p),
                                            g->stream));
  take_entries<<<blocks_for(all, 256), 256, 0, g->stream>>>(keys.Current(), near, all,
                                                            p->entry_bits, p->near, p->far);
  gpu_launched("take_entries");
}
