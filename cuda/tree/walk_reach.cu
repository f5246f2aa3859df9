/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk without expansions: of each leaf, the source leaves within r_cut. A CUDA block has the leaves
 * below a node of the targets' tree. Its first warp descends the trees of the sources to small nodes
 * within reach of that node, the stems. Then each warp compares its leaf with the leaves below all
 * stems. Entries are listed in the order of lanes, which is the same in every run. */
#include "cuda/tree/walk.cuh"

/* levels of the targets' tree below the node of a CUDA block, and of the sources' trees below stems */
enum { BELOW_NODE = 3, BELOW_STEM = 2, WARPS = 1 << BELOW_NODE, BLOCK = WARPS * WARP };
enum { RESIDENT = 5 }; /* CUDA blocks resident on a multiprocessor (limits registers) */
enum { STEMS = 512 };

/** Numbers on the stack of a descent. Children are pushed together and the topmost 32 nodes are taken
 * first: a turn leaves at most 32 nodes of each level behind, except that the newest have 64. Roots
 * are not stored. */
static HOST_DEVICE inline uint32_t stack_room(unsigned source_depth) {
  return WARP * (source_depth + 2);
}

/** Node `below` levels above a leaf; the root, if the tree has no so many levels. */
static __device__ inline uint32_t node_above(uint32_t leaf, unsigned depth, unsigned below) {
  return (1u << depth | leaf) >> min(depth, below);
}

struct descent {
  uint32_t *stack, top; /* nodes in reach are to be found below these */
  uint32_t slot;        /* next tree */
};

/** A node, or the lowest one above it that is here of a source. */
static __device__ inline uint32_t lowest_here(const struct walk_problem &p, uint32_t slot,
                                              uint32_t source) {
  while (p.source_part && source > 1 && !part_has_below(&p.source_part[slot], source / 2))
    source /= 2;
  return source;
}

/** One turn of a descent: compare 32 nodes with the target, and put stems or children aside.
 * @return number of nodes compared by this lane */
static __device__ uint32_t descend(const struct walk_problem &p, const struct acceptance &a,
                                   const struct node &target, struct descent &d, uint32_t *stems,
                                   uint32_t &stem_count) {
  const uint32_t lane = threadIdx.x % WARP, taken = min(d.top, (uint32_t)WARP),
                 fresh = min(WARP - taken, p.slots - d.slot),
                 first_stem = 1u << (a.depth - min(a.depth, (unsigned)BELOW_STEM));
  const bool active = lane < taken + fresh;
  uint32_t entry = 1;
  __syncwarp(); /* the other lanes' children are on the stack */
  if (lane < taken)
    entry = d.stack[d.top - 1 - lane];
  else if (active)
    entry = (d.slot + lane - taken) << (a.depth + 1) | 1;
  __syncwarp();
  d.top -= taken;
  d.slot += fresh;
  const uint32_t slot = entry >> (a.depth + 1), source = entry & ((2u << a.depth) - 1);
  bool reached = false;
  if (active) {
    const struct node s = load_node(p.source_nodes[slot] + source);
    reached = nodes_in_reach(a.scale, &target, &s) &&
              !(source < first_stem && lacks_below(p, slot, source));
  }
  const uint32_t stem_lanes = __ballot_sync(~0u, reached && source >= first_stem),
                 open_lanes = __ballot_sync(~0u, reached && source < first_stem);
  if (stem_lanes >> lane & 1) stems[stem_count + __popc(stem_lanes & lanes_before())] = entry;
  stem_count += __popc(stem_lanes);
  if (open_lanes >> lane & 1) { /* the first lane's children on top */
    const uint32_t at = d.top + 2 * (__popc(open_lanes) - 1 - __popc(open_lanes & lanes_before()));
    d.stack[at + 1] = entry + source;
    d.stack[at] = entry + source + 1;
  }
  d.top += 2 * __popc(open_lanes);
  return active;
}

template <enum entries ENTRIES>
static __global__ void __launch_bounds__(BLOCK, RESIDENT)
    reach(const __grid_constant__ struct walk_problem p,
          const __grid_constant__ struct acceptance a) {
  extern __shared__ uint32_t stack[];
  __shared__ uint32_t stems[STEMS], stem_count, nodes_left;
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, leaves = 1u << p.depth,
                 block_leaf = blockIdx.x * WARPS, leaf = block_leaf + warp,
                 block_end = min(block_leaf + WARPS, leaves);
  const unsigned below = min(a.depth, (unsigned)BELOW_STEM);
  /* An empty leaf counts as none. The length of its list is 0 from the start. */
  if (p.first && p.first[block_leaf] == p.first[block_end]) return;
  const bool has_leaf = leaf < leaves && !(p.first && p.first[leaf] == p.first[leaf + 1]);
  const uint32_t node = warp == 0 ? node_above(block_leaf, p.depth, BELOW_NODE) : 0;
  struct node target = {}, block_target = {};
  uint32_t targets = 0;
  if (warp == 0) block_target = load_node(p.nodes + node);
  if (has_leaf) {
    target = load_node(p.nodes + leaves + leaf);
    targets = tree_node_count(p.count, p.depth, p.first, leaves + leaf);
  }
  struct descent d = {stack, 0, 0};
  struct near_found near = {ENTRIES == WRITTEN && has_leaf ? p.near_offset[leaf] : 0, 0, 0};
  unsigned long long pairs = 0, visits = 0;
  for (bool last = false; !last;) {
    if (warp == 0) {
      uint32_t n = 0;
      while (d.top + (p.slots - d.slot) > 0 && n <= STEMS - WARP)
        visits += descend(p, a, block_target, d, stems, n);
      if (lane == 0) {
        stem_count = n;
        nodes_left = d.top + (p.slots - d.slot);
      }
    }
    __syncthreads();
    last = nodes_left == 0;
    for (uint32_t i = lane, end = has_leaf ? stem_count << below : 0; i - lane < end; i += WARP) {
      uint32_t entry = 0;
      bool reached = false;
      if (i < end) {
        const uint32_t stem = stems[i >> below], slot = stem >> (a.depth + 1),
                       source = (stem & ((2u << a.depth) - 1)) << below | (i & ((1u << below) - 1));
        const struct node s = load_node(p.source_nodes[slot] + lowest_here(p, slot, source));
        entry = slot << (a.depth + 1) | source;
        reached = nodes_in_reach(a.scale, &target, &s) && !lacks_below(p, slot, source);
        visits++;
        if (reached)
          pairs += (unsigned long long)particles_of(p.source_count[slot], source) * targets;
      }
      add_near<ENTRIES>(p, leaf, __ballot_sync(~0u, reached), entry, near);
    }
    __syncthreads();
  }
  if (ENTRIES != WRITTEN) store_near(p, leaf, has_leaf, near.count, pairs, visits);
}

template <enum entries ENTRIES>
static void launch(struct gpu *g, const struct acceptance *a, const struct walk_problem *p) {
  reach<ENTRIES><<<blocks_for(1u << p->depth, WARPS), BLOCK,
                   stack_room(a->depth) * sizeof(uint32_t), g->stream>>>(*p, *a);
  gpu_launched("walk");
}

void walk_reach_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *p) {
  p->room.near_entry ? launch<KEPT>(g, a, p) : launch<COUNTED>(g, a, p);
}

void walk_reach_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *p) {
  launch<WRITTEN>(g, a, p);
}
