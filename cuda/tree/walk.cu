/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk, walk_fill: two passes of a walk. The first finds the lengths of the lists, the second writes
 * their entries. Where lists have an expected length, the first pass keeps the entries that it finds
 * and moves them to their places when the lengths of all lists are known. */
#include "cuda/tree/walk.cuh"

enum { SCAN_BLOCK = 1024, SCAN_EACH = 8, MOVE_BLOCK = 256, MOVE_BLOCKS = 256 };

/** Turn lengths into offsets, and sum them up: one CUDA block for the near list, one for the far
 * list. */
static __global__ void __launch_bounds__(SCAN_BLOCK)
    scan(uint32_t leaves, const __grid_constant__ struct walk_problem p) {
  __shared__ uint64_t warp_sum[SCAN_BLOCK / WARP];
  uint32_t *offset = blockIdx.x == 0 ? p.near_offset : p.far_offset;
  const uint32_t n = blockIdx.x == 0 ? leaves : 2 * leaves, lane = threadIdx.x % WARP,
                 warp = threadIdx.x / WARP;
  uint64_t before = 0;
  uint32_t longest = 0;
  for (uint32_t first = 0; first < n; first += SCAN_BLOCK * SCAN_EACH) {
    const uint32_t i = first + threadIdx.x * SCAN_EACH;
    uint32_t length[SCAN_EACH];
    uint64_t own = 0;
#pragma unroll
    for (uint32_t k = 0; k < SCAN_EACH; k++) {
      length[k] = i + k < n ? offset[i + k] : 0;
      own += length[k];
      longest = max(longest, length[k]);
    }
    uint64_t sum = own;
    for (uint32_t step = 1; step < WARP; step *= 2) {
      const uint64_t other = __shfl_up_sync(~0u, sum, step);
      sum += lane >= step ? other : 0;
    }
    if (lane == WARP - 1) warp_sum[warp] = sum;
    __syncthreads();
    uint64_t total = 0;
    for (uint32_t k = 0; k < SCAN_BLOCK / WARP; k++) {
      if (k == warp) sum += total;
      total += warp_sum[k];
    }
    uint64_t at = before + sum - own;
#pragma unroll
    for (uint32_t k = 0; k < SCAN_EACH; k++) {
      if (i + k < n) offset[i + k] = (uint32_t)at;
      at += length[k];
    }
    before += total;
    __syncthreads();
  }
  longest = __reduce_max_sync(~0u, longest);
  if (lane == 0) atomicMax(&p.result->longest, longest);
  if (threadIdx.x > 0) return;
  offset[n] = (uint32_t)before; /* wrong beyond 2^32; the caller looks at the result first */
  (blockIdx.x == 0 ? p.result->entries : p.result->interactions) = before;
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

/** Copy the tables of the sources to the GPU. */
static struct walk_problem problem_of(struct gpu *g, const struct acceptance *a, uint32_t count,
                                      unsigned depth, const uint32_t *first,
                                      const struct node *nodes, uint32_t slots,
                                      const struct node *const *source_nodes,
                                      const uint32_t *source_count, const float *const *source_mass,
                                      const struct tree_part *source_part, uint32_t *offset) {
  struct walk_problem p = {};
  char *table = (char *)gpu_scratch(g, SCRATCH_TABLE,
                                    sizeof *p.result +
                                        slots * (sizeof *source_part + sizeof *source_nodes +
                                                 sizeof *source_mass + sizeof *source_count));
  p.count = count;
  p.depth = depth;
  p.first = first;
  p.slots = slots;
  p.nodes = nodes;
  p.result = (struct walk_result *)table;
  struct tree_part *parts = (struct tree_part *)(p.result + 1);
  const float **masses = (const float **)(parts + (source_part ? slots : 0));
  p.source_part = source_part ? parts : NULL;
  p.source_mass = source_mass ? masses : NULL;
  p.own_mass = source_mass ? source_mass[0] : NULL;
  p.weight = packed_weight(a, count, source_count[0]);
  p.source_nodes = (const struct node *const *)(masses + (source_mass ? slots : 0));
  p.source_count = (const uint32_t *)(p.source_nodes + slots);
  p.near_offset = offset;
  p.far_offset = offset + (1u << depth) + 1;
  gpu_upload_pair(g, (void *)p.source_nodes, source_nodes, slots * sizeof *source_nodes,
                  source_count, slots * sizeof *source_count);
  if (source_mass) gpu_upload(g, masses, source_mass, slots * sizeof *source_mass);
  if (source_part) gpu_upload(g, parts, source_part, slots * sizeof *source_part);
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
  scan<<<no_expansions(a) ? 1 : 2, SCAN_BLOCK, 0, g->stream>>>(1u << p->depth, *p);
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
                                     source_count, source_mass, a->newton ? source_part : NULL,
                                     offset);
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
                   const float *const *source_mass, const uint32_t *offset,
                   const struct walk_result *lengths, uint32_t *near, uint32_t *far) {
  if (lengths->longest == 0) return;
  struct walk_problem p = problem_of(g, a, count, depth, first, nodes, slots, source_nodes,
                                     source_count, source_mass, NULL, (uint32_t *)offset);
  p.near = near;
  p.far = far;
  if (a->newton)
    walk_pairs_fill(g, a, &p, lengths);
  else
    (no_expansions(a) ? walk_reach_fill : walk_leaves_fill)(g, a, &p);
}
