/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk, walk_fill: two passes of a walk. The first finds the lengths of the lists, the second writes
 * their entries. Where lists have an expected length, the first pass keeps the entries that it finds
 * and moves them to their places when the lengths of all lists are known. */
#include <stdlib.h>
#include <string.h>

#include "cuda/tree/walk.cuh"
#include "photons/base/error.h"

enum {
  SCAN_BLOCK = 256,
  SCAN_EACH = 8 * SCAN_BLOCK,
  /* lengths of a CUDA block */ MOVE_BLOCK = 256,
  MOVE_BLOCKS = 256
};

/** The sum of a over the threads of a CUDA block before this one, and over all. */
struct block_scan {
  uint64_t before, all;
};
static __device__ inline struct block_scan scan_block(uint64_t a) {
  __shared__ uint64_t of_warp[SCAN_BLOCK / WARP];
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  uint64_t sum = a;
  for (uint32_t step = 1; step < WARP; step *= 2) {
    const uint64_t other = __shfl_up_sync(~0u, sum, step);
    sum += lane >= step ? other : 0;
  }
  __syncthreads(); /* of_warp may still be read by an earlier call */
  if (lane == WARP - 1) of_warp[warp] = sum;
  __syncthreads();
  struct block_scan scan = {sum - a, 0};
  for (uint32_t k = 0; k < SCAN_BLOCK / WARP; k++) {
    if (k == warp) scan.before += scan.all;
    scan.all += of_warp[k];
  }
  return scan;
}

/** The lengths of a list, or the offsets that they become: [count], and one more. The near list of all leaves comes
 * first. */
struct scanned {
  uint32_t *offset, count, first; /* CUDA block of the grid that is the first of this list */
};
static __device__ inline struct scanned scanned_by_block(const struct walk_problem &p) {
  const uint32_t leaves = 1u << p.depth, blocks = (leaves + SCAN_EACH - 1) / SCAN_EACH;
  if (blockIdx.x < blocks) return {p.near_offset, leaves, 0};
  return {p.far_offset, 2 * leaves, blocks};
}

/** The sum of the lengths that a CUDA block has, for each CUDA block, and the longest of all. */
static __global__ void __launch_bounds__(SCAN_BLOCK)
    add_lengths(const __grid_constant__ struct walk_problem p, uint64_t *sum) {
  const struct scanned s = scanned_by_block(p);
  const uint32_t begin = (blockIdx.x - s.first) * SCAN_EACH;
  uint64_t own = 0;
  uint32_t longest = 0;
#pragma unroll
  for (uint32_t k = 0; k < SCAN_EACH; k += SCAN_BLOCK) {
    const uint32_t i = begin + k + threadIdx.x, length = i < s.count ? s.offset[i] : 0;
    own += length;
    longest = max(longest, length);
  }
  own = scan_block(own).all;
  longest = warp_max(longest);
  if (threadIdx.x % WARP == 0) atomicMax(&p.result->longest, longest);
  if (threadIdx.x == 0) sum[blockIdx.x] = own;
}

/** Turn lengths into offsets. */
static __global__ void __launch_bounds__(SCAN_BLOCK)
    scan(const __grid_constant__ struct walk_problem p, const uint64_t *sum) {
  const struct scanned s = scanned_by_block(p);
  uint64_t before = 0;
  for (uint32_t block = s.first + threadIdx.x; block < blockIdx.x; block += SCAN_BLOCK)
    before += sum[block];
  before = scan_block(before).all;
  for (uint32_t k = 0; k < SCAN_EACH; k += SCAN_BLOCK) {
    const uint32_t i = (blockIdx.x - s.first) * SCAN_EACH + k + threadIdx.x,
                   length = i < s.count ? s.offset[i] : 0;
    const struct block_scan scanned = scan_block(length);
    if (i < s.count) s.offset[i] = (uint32_t)(before + scanned.before);
    before += scanned.all;
  }
  if (threadIdx.x > 0 || blockIdx.x + 1 < s.first + (s.count + SCAN_EACH - 1) / SCAN_EACH) return;
  s.offset[s.count] = (uint32_t)before; /* wrong beyond 2^32; the caller looks at the result first */
  (s.first == 0 ? p.result->entries : p.result->interactions) = before;
}

/** Move entries that were kept to their places: a warp for each block of a near list, a thread for
 * each entry of a far list. */
static __global__ void __launch_bounds__(MOVE_BLOCK)
    move_kept(const __grid_constant__ struct walk_problem p) {
  const uint32_t thread = blockIdx.x * MOVE_BLOCK + threadIdx.x, threads = gridDim.x * MOVE_BLOCK;
  if (!list_room_suffices(&p.room, p.result)) return;
  if (thread == 0) p.result->written = 1;
  for (uint32_t b = thread / WARP; b < p.result->near_blocks; b += threads / WARP) {
    const struct near_block block = p.block[b];
    const uint32_t first = p.near_offset[block.leaf] + block.first,
                   n = min(p.near_offset[block.leaf + 1] - first, (uint32_t)NEAR_BLOCK);
    for (uint32_t i = threadIdx.x % WARP; i < n; i += WARP)
      p.room.near_entry[first + i] = p.near_kept[(size_t)b * NEAR_BLOCK + i];
  }
  for (uint32_t i = thread; i < p.result->far_kept; i += threads) {
    const struct kept_entry kept = p.far_kept[i];
    p.room.far_entry[p.far_offset[kept.target] + kept.place] = kept.entry;
  }
}

/** Memory for entries that are kept: as many as the lists may have, and each leaf's last block may
 * hold a single one. */
static void make_kept(struct gpu *g, struct walk_problem *p, const struct list_room *room,
                      bool newton) {
  const size_t both = (size_t)room->near + room->far;
  if (!room->near_entry || both > UINT32_MAX) return;
  p->room = *room;
  p->kept_most = newton ? (uint32_t)both : room->far;
  if (newton) {
    p->far_kept = (struct kept_entry *)gpu_scratch(g, SCRATCH_LIST, both * sizeof *p->far_kept);
    return;
  }
  p->blocks_most = room->near / NEAR_BLOCK + (1u << p->depth);
  const size_t near_bytes = (size_t)p->blocks_most * NEAR_BLOCK * sizeof *p->near_kept;
  char *kept = (char *)gpu_scratch(g, SCRATCH_LIST,
                                   near_bytes + p->blocks_most * sizeof *p->block +
                                       room->far * sizeof *p->far_kept);
  p->near_kept = (uint32_t *)kept;
  p->block = (struct near_block *)(kept + near_bytes);
  p->far_kept = (struct kept_entry *)(p->block + p->blocks_most);
}

/** Bytes of what is here of the sources, and of the bits of these parts. */
static size_t bytes_of_parts(const struct tree_part *part, uint32_t slots) {
  size_t bytes = part ? slots * sizeof *part : 0;
  for (uint32_t i = 0; part && i < slots; i++)
    if (part[i].below) bytes += part_words(part[i].top) * sizeof *part[i].below;
  return bytes;
}

/** Copy parts and their bits to the GPU. */
static void upload_parts(struct gpu *g, struct tree_part *on_device, const struct tree_part *part,
                         uint32_t slots) {
  const size_t bytes = bytes_of_parts(part, slots);
  struct tree_part *table = (struct tree_part *)allocate(bytes, 1, "parts of trees");
  uint64_t *below = (uint64_t *)(table + slots);
  const uint64_t *below_on_device = (const uint64_t *)(on_device + slots);
  for (uint32_t i = 0; i < slots; i++) {
    table[i] = part[i];
    if (!part[i].below) continue;
    const uint32_t words = part_words(part[i].top);
    memcpy(below, part[i].below, words * sizeof *below);
    table[i].below = below_on_device;
    below += words;
    below_on_device += words;
  }
  gpu_upload(g, on_device, table, bytes);
  free(table);
}

/** Copy the tables of the sources to the GPU. */
static struct walk_problem problem_of(struct gpu *g, const struct acceptance *a, uint32_t count,
                                      unsigned depth, const uint32_t *first,
                                      const struct node *nodes, uint32_t slots,
                                      const struct node *const *source_nodes,
                                      const uint32_t *source_count, const float *const *source_mass,
                                      const struct tree_part *source_part, uint32_t *offset) {
  struct walk_problem p = {};
  const size_t parts = bytes_of_parts(source_part, slots);
  char *table = (char *)gpu_scratch(
      g, SCRATCH_TABLE,
      sizeof *p.result + parts +
          slots * (sizeof *source_nodes + sizeof *source_mass + sizeof *source_count));
  p.count = count;
  p.depth = depth;
  p.first = first;
  p.slots = slots;
  p.nodes = nodes;
  p.result = (struct walk_result *)table;
  struct tree_part *part = (struct tree_part *)(p.result + 1);
  const float **masses = (const float **)((char *)part + parts);
  p.source_part = source_part ? part : NULL;
  p.source_mass = source_mass ? masses : NULL;
  p.own_mass = source_mass ? source_mass[0] : NULL;
  p.weight = packed_weight(a, count, source_count[0]);
  p.bounds_sums = walk_bounds_sums(a, count, source_count[0]);
  p.source_nodes = (const struct node *const *)(masses + (source_mass ? slots : 0));
  p.source_count = (const uint32_t *)(p.source_nodes + slots);
  p.near_offset = offset;
  p.far_offset = offset + (1u << depth) + 1;
  gpu_upload_pair(g, (void *)p.source_nodes, source_nodes, slots * sizeof *source_nodes,
                  source_count, slots * sizeof *source_count);
  if (source_mass) gpu_upload(g, masses, source_mass, slots * sizeof *source_mass);
  if (source_part) upload_parts(g, part, source_part, slots);
  return p;
}

/** Whether the criterion accepts no pair of nodes. */
static bool no_expansions(const struct acceptance *a) {
  return a->theta == 0.0f && a->theta_first == 0.0f;
}

void walk_clear(struct gpu *g, const struct walk_problem *p) {
  CHECK_CUDA(cudaMemsetAsync(p->result, 0, sizeof *p->result, g->stream));
  CHECK_CUDA(cudaMemsetAsync(p->near_offset, 0,
                             ((1u << p->depth) + tree_nodes(p->depth) + 2) * sizeof *p->near_offset,
                             g->stream));
}

void walk_scan(struct gpu *g, const struct acceptance *a, const struct walk_problem *p) {
  /* without expansions all lengths and offsets of far lists are zero, as they are already */
  const uint32_t near = blocks_for(1ull << p->depth, SCAN_EACH),
                 all = near + (no_expansions(a) ? 0 : blocks_for(2ull << p->depth, SCAN_EACH));
  uint64_t *sum = (uint64_t *)gpu_scratch(g, SCRATCH_PARTS, all * sizeof *sum);
  add_lengths<<<all, SCAN_BLOCK, 0, g->stream>>>(*p, sum);
  gpu_launched("add_lengths");
  scan<<<all, SCAN_BLOCK, 0, g->stream>>>(*p, sum);
  gpu_launched("scan");
}

/** The first pass of a walk with a cutoff. */
static void count_in_reach(struct gpu *g, const struct acceptance *a,
                           const struct walk_problem *p) {
  walk_clear(g, p);
  (no_expansions(a) ? walk_reach_count : walk_leaves_count)(g, a, p);
  walk_scan(g, a, p);
  if (!p->room.near_entry) return;
  move_kept<<<MOVE_BLOCKS, MOVE_BLOCK, 0, g->stream>>>(*p);
  gpu_launched("move_kept");
}

void gpu_walk(struct gpu *g, const struct acceptance *a, uint32_t count, unsigned depth,
              const uint32_t *first, const struct node *nodes, uint32_t slots,
              const struct node *const *source_nodes, const uint32_t *source_count,
              const float *const *source_mass, const struct tree_part *source_part,
              uint32_t *offset, const struct list_room *room, struct walk_result *result) {
  struct walk_problem p = problem_of(g, a, count, depth, first, nodes, slots, source_nodes,
                                     source_count, source_mass, source_part, offset);
  make_kept(g, &p, room, a->newton);
  if (a->newton)
    walk_pairs_count(g, a, &p);
  else
    count_in_reach(g, a, &p);
  CHECK_CUDA(cudaMemcpyAsync(result, p.result, sizeof *result, cudaMemcpyDeviceToHost, g->stream));
}

void gpu_walk_fill(struct gpu *g, const struct acceptance *a, uint32_t count, unsigned depth,
                   const uint32_t *first, const struct node *nodes, uint32_t slots,
                   const struct node *const *source_nodes, const uint32_t *source_count,
                   const float *const *source_mass, const struct tree_part *source_part,
                   const uint32_t *offset, const struct walk_result *lengths, uint32_t *near,
                   uint32_t *far) {
  if (lengths->longest == 0) return;
  struct walk_problem p = problem_of(g, a, count, depth, first, nodes, slots, source_nodes,
                                     source_count, source_mass, source_part, (uint32_t *)offset);
  p.near = near;
  p.far = far;
  if (a->newton)
    walk_pairs_fill(g, a, &p, lengths);
  else
    (no_expansions(a) ? walk_reach_fill : walk_leaves_fill)(g, a, &p);
}
