/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk under short-range forces: one warp for each target leaf. The warp repeats the dual walk,
 * but of the target nodes it visits only its leaf and the leaf's ancestors. A lane judges a pair
 * of (ancestor, source node). A pair to be opened returns to the stack as two pairs, one with each
 * child of the source, or as one pair with the child of the target that holds the leaf. Pairs
 * whose target lies above all leaves of a CUDA block are judged once, by the first warp of the
 * block; from there on each warp continues alone. An expansion accepted by an ancestor is listed
 * by the first leaf below the ancestor. Entries are listed in the order of lanes, which is the
 * same in every run; leaves near each other are mostly consecutive.
 *
 * The trees of the targets and of the sources differ in depth where only some particles are
 * targets. Then leaves may be empty: their warps do nothing, their nodes are not read, and "first
 * leaf" means the first one that has targets. */
#include "cuda/tree/walk.cuh"

/* leaves of a CUDA block: a subtree of COMMON levels */
enum { COMMON = 2, WARPS = 1 << COMMON, BLOCK = WARPS * WARP };
enum { RESIDENT = 10 }; /* CUDA blocks resident on a multiprocessor (limits registers) */
enum { ROOTS = 256 };

/** Level of the root of a CUDA block's subtree. */
static HOST_DEVICE inline unsigned parting_level(unsigned depth) {
  return depth > COMMON ? depth - COMMON : 0;
}

/** A pair to be judged. */
struct pair {
  uint32_t entry; /* the source node */
  uint16_t level; /* of the target */
};

/** Pairs to be judged. */
struct stack {
  uint32_t *entry;
  uint16_t *level;
  uint32_t top;
};

/* Bound on the depth of the stack. Children are pushed in order and the topmost pairs are taken
 * first, so that generations (roots: 0) rise from the bottom of the stack to its top. Pairs of
 * generation k are made only from pairs of generation k - 1 that are taken after all pairs of
 * higher generations; then at most 64 pairs of generations >= k exist together. The next turn that
 * reaches generation k takes from it as many pairs as the higher generations lack to 32, which
 * leaves at most 32. After any turn, therefore, each generation has at most 32 pairs, except that
 * the newest have 64 together. Roots are not stored. A path opens each level of the source once,
 * and each level of the target that it has once. */
static HOST_DEVICE inline uint32_t stack_room(unsigned source_depth, unsigned target_levels) {
  return WARP * (source_depth + target_levels + 1);
}

static __device__ inline void put(const struct stack &stack, uint32_t at, const struct pair &pair) {
  stack.entry[at] = pair.entry;
  stack.level[at] = pair.level;
}

/** A warp's working memory in CUDA shared memory. */
struct workspace {
  struct node *ancestor; /* [level] ancestors of the leaf */
  uint32_t *count;       /* [level] their particles */
  float *mass;           /* [level] their masses */
  uint32_t *far;         /* [level] entries found */
  struct stack stack;
};

static HOST_DEVICE inline uint32_t stack_bytes(uint32_t room) {
  return room * (uint32_t)(sizeof(uint32_t) + sizeof(uint16_t));
}
static HOST_DEVICE inline uint32_t workspace_bytes(unsigned depth, unsigned source_depth) {
  return (depth + 1) * (uint32_t)(sizeof(struct node) + 2 * sizeof(uint32_t) + sizeof(float)) +
         stack_bytes(stack_room(source_depth, COMMON));
}
static HOST_DEVICE inline uint32_t shared_bytes(unsigned depth, unsigned source_depth) {
  return WARPS * workspace_bytes(depth, source_depth) +
         stack_bytes(stack_room(source_depth, parting_level(depth)));
}

static __device__ inline struct stack stack_at(void *memory, uint32_t room) {
  return {(uint32_t *)memory, (uint16_t *)((uint32_t *)memory + room), 0};
}

static __device__ inline struct workspace workspace_at(char *memory, unsigned depth,
                                                       unsigned source_depth) {
  struct workspace w;
  w.ancestor = (struct node *)memory;
  w.count = (uint32_t *)(w.ancestor + depth + 1);
  w.mass = (float *)(w.count + depth + 1);
  w.far = (uint32_t *)(w.mass + depth + 1);
  w.stack = stack_at(w.far + depth + 1, stack_room(source_depth, COMMON));
  return w;
}

static __device__ inline uint32_t ancestor_of(uint32_t leaf, unsigned depth, unsigned level) {
  return ((1u << depth) + leaf) >> (depth - level);
}
/** Bit l is set if the leaves below the ancestor of level l and before this leaf are all empty. */
static __device__ inline uint32_t levels_where_first(const struct walk_problem &p, uint32_t leaf) {
  const unsigned level = min(threadIdx.x % WARP, p.depth);
  const uint32_t rest = leaf & ((1u << (p.depth - level)) - 1);
  const bool first = p.first ? p.first[leaf - rest] == p.first[leaf] : rest == 0;
  return __ballot_sync(~0u, first);
}

/** Findings of a warp: its near list, and this lane's part of the sums. */
struct found {
  struct near_found near;
  unsigned long long pairs, visits;
};

/** Keep an entry of a far list on each of the given lanes, of which this is one. */
static __device__ inline void keep_far(const struct walk_problem &p, uint32_t lanes,
                                       const struct kept_entry &entry) {
  const int leader = __ffs((int)lanes) - 1;
  uint32_t at = 0;
  if ((int)(threadIdx.x % WARP) == leader)
    at = atomicAdd(&p.result->far_kept, (uint32_t)__popc(lanes));
  at = __shfl_sync(lanes, at, leader) + __popc(lanes & lanes_before());
  if (at < p.room.far) p.far_kept[at] = entry;
}

/** One turn: judge the topmost pairs of the stack, and as many pairs of `roots` as lanes are left.
 * Children whose target has the level `parting` go to `parted`, other children to the stack.
 * @param first_levels  from levels_where_first()
 * @param root  gives a pair by its number */
template <enum entries ENTRIES, typename Root>
static __device__ inline void
take_turn(const struct walk_problem &p, const struct acceptance &a, uint32_t leaf,
          uint32_t first_levels, const struct workspace &w, struct stack &stack, uint32_t roots,
          Root root, unsigned parting, struct pair *parted, uint32_t &parted_count,
          struct found &found) {
  const unsigned depth = p.depth;
  const uint32_t lane = threadIdx.x % WARP, leaves = 1u << depth, source_leaves = 1u << a.depth;
  const uint32_t taken = min(stack.top, (uint32_t)WARP);
  const bool active = lane < taken + roots;
  struct pair pair = {1, 0};
  __syncwarp();
  if (lane < taken) {
    pair = {stack.entry[stack.top - 1 - lane], stack.level[stack.top - 1 - lane]};
  } else if (active) {
    pair = root(lane - taken);
  }
  __syncwarp();
  stack.top -= taken;
  const uint32_t entry = pair.entry, level = pair.level;
  const uint32_t target = ancestor_of(leaf, depth, level), source = entry & (2 * source_leaves - 1);
  const bool first = first_levels >> level & 1;
  bool open = false, near = false, far = false, split_target = false;
  if (active) {
    const uint32_t slot = entry >> (a.depth + 1), n = p.source_count[slot];
    const struct node s = load_node(p.source_nodes[slot] + source), *t = &w.ancestor[level];
    const uint32_t source_count = particles_of(n, source);
    const enum verdict verdict = judge(&a, t, &s, w.mass[level], mass_of(p, slot, source), 1.0f);
    far = verdict == ACCEPT && first;
    near = verdict == OPEN && target >= leaves && source >= source_leaves;
    open = verdict == OPEN && !near;
    split_target = opens_target(depth, target, t->radius, a.depth, source, s.radius);
    if ((near || (open && !split_target)) && lacks_below(p, slot, source)) near = open = false;
    if (near) found.pairs += (unsigned long long)source_count * w.count[level];
    found.visits += first;
  }
  const bool part = open && split_target && level + 1 == parting;
  open = open && !part;
  const uint32_t one = __ballot_sync(~0u, open && split_target),
                 two = __ballot_sync(~0u, open && !split_target);
  const uint32_t part_lanes = __ballot_sync(~0u, part), children = __popc(one) + 2 * __popc(two);
  const uint16_t below = (uint16_t)(level + split_target);
  if (part) parted[parted_count + __popc(part_lanes & lanes_before())] = {entry, below};
  parted_count += __popc(part_lanes);
  if (open) { /* the first lane's children on top */
    const uint32_t at = stack.top + children - 1 - __popc(one & lanes_before()) -
                        2 * __popc(two & lanes_before());
    put(stack, at, {split_target ? entry : entry + source, below});
    if (!split_target) put(stack, at - 1, {entry + source + 1, below});
  }
  stack.top += children;
  const uint32_t near_lanes = __ballot_sync(~0u, near), far_lanes = __ballot_sync(~0u, far);
  add_near<ENTRIES>(p, leaf, near_lanes, entry, found.near);
  if (far) {
    const uint32_t same = __match_any_sync(far_lanes, level), before = w.far[level],
                   rank = __popc(same & lanes_before());
    if (ENTRIES == WRITTEN) p.far[p.far_offset[target] + before + rank] = entry;
    if (ENTRIES == KEPT) keep_far(p, far_lanes, {target, before + rank, entry});
    __syncwarp(far_lanes);
    if (rank == 0) w.far[level] = before + __popc(same);
  }
}

/** Store the lengths of the lists that this warp has found. Those of ancestors above the parting
 * level belong to the first warp of the CUDA block, even if its own leaf is empty.
 * @param first_levels  from levels_where_first() */
static __device__ void store_lengths(const struct walk_problem &p, unsigned depth, unsigned parting,
                                     uint32_t leaf, bool has_leaf, uint32_t first_levels,
                                     const struct workspace &w, struct found found) {
  for (uint32_t level = threadIdx.x % WARP; level <= depth; level += WARP)
    if ((first_levels >> level & 1) && (level < parting ? threadIdx.x < WARP : has_leaf))
      p.far_offset[ancestor_of(leaf, depth, level)] = w.far[level];
  store_near(p, leaf, has_leaf, found.near.count, found.pairs, found.visits);
}

template <enum entries ENTRIES>
static __global__ void __launch_bounds__(BLOCK, RESIDENT)
    walk(const __grid_constant__ struct walk_problem p,
         const __grid_constant__ struct acceptance acceptance) {
  extern __shared__ __align__(16) char memory[];
  __shared__ struct acceptance a;
  __shared__ struct pair roots[ROOTS];
  __shared__ uint32_t root_count, pairs_left;
  const unsigned depth = p.depth, source_depth = acceptance.depth, parting = parting_level(depth);
  const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, leaves = 1u << depth,
                 block_leaf = blockIdx.x * WARPS, leaf = block_leaf + warp;
  /* An empty leaf counts as none. The lengths of its lists are 0 from the start. */
  const bool has_leaf = leaf < leaves && !(p.first && p.first[leaf] == p.first[leaf + 1]);
  if (p.first && p.first[block_leaf] == p.first[min(block_leaf + WARPS, leaves)]) return;
  for (uint32_t i = threadIdx.x; i < sizeof a / sizeof(uint32_t); i += BLOCK)
    ((uint32_t *)&a)[i] = ((const uint32_t *)&acceptance)[i];
  const uint32_t bytes = workspace_bytes(depth, source_depth);
  struct workspace w = workspace_at(memory + warp * bytes, depth, source_depth);
  struct stack common = stack_at(memory + WARPS * bytes, stack_room(source_depth, parting));
  for (uint32_t level = lane; level <= depth; level += WARP) {
    const uint32_t node = ancestor_of(leaf, depth, level);
    /* the first warp judges the ancestors of the whole CUDA block, whatever its own leaf has */
    if (leaf < leaves) {
      w.ancestor[level] = load_node(p.nodes + node);
      w.count[level] = tree_node_count(p.count, depth, p.first, node);
      w.mass[level] = target_mass(p, node);
    }
    w.far[level] = 0;
  }
  const uint32_t first_levels = leaf < leaves ? levels_where_first(p, leaf) : 0;
  __syncthreads();
  struct found found = {{ENTRIES == WRITTEN && has_leaf ? p.near_offset[leaf] : 0, 0, 0}, 0, 0};
  uint32_t slot = 0, none = 0;
  const auto root_of = [&](uint32_t i) { return pair{(slot + i) << (source_depth + 1) | 1, 0}; };
  for (bool last = false; !last;) {
    if (warp == 0) {
      uint32_t n = 0;
      if (parting == 0) { /* the leaves of this CUDA block have nothing in common but the roots of
                             the walk */
        n = min(p.slots - slot, (uint32_t)ROOTS);
        for (uint32_t i = lane; i < n; i += WARP) roots[i] = root_of(i);
        slot += n;
      } else {
        while (common.top + (p.slots - slot) > 0 && n <= ROOTS - WARP) {
          const uint32_t fresh = min(WARP - min(common.top, (uint32_t)WARP), p.slots - slot);
          take_turn<ENTRIES>(p, a, leaf, first_levels, w, common, fresh, root_of, parting, roots, n,
                             found);
          slot += fresh;
        }
      }
      if (lane == 0) {
        root_count = n;
        pairs_left = common.top + (p.slots - slot);
      }
    }
    __syncthreads();
    last = pairs_left == 0;
    for (uint32_t done = 0; has_leaf && w.stack.top + (root_count - done) > 0;) {
      const uint32_t fresh = min(WARP - min(w.stack.top, (uint32_t)WARP), root_count - done);
      const auto root = [&](uint32_t i) { return roots[done + i]; };
      take_turn<ENTRIES>(p, a, leaf, first_levels, w, w.stack, fresh, root, ~0u, nullptr, none,
                         found);
      done += fresh;
    }
    __syncthreads();
  }
  if constexpr (ENTRIES != WRITTEN)
    if (leaf < leaves) store_lengths(p, depth, parting, leaf, has_leaf, first_levels, w, found);
}

template <enum entries ENTRIES>
static void launch(struct gpu *g, const struct acceptance *a, const struct walk_problem *p) {
  walk<ENTRIES>
      <<<blocks_for(1u << p->depth, WARPS), BLOCK, shared_bytes(p->depth, a->depth), g->stream>>>(
          *p, *a);
  gpu_launched("walk");
}

void walk_leaves_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *p) {
  p->room.near_entry ? launch<KEPT>(g, a, p) : launch<COUNTED>(g, a, p);
}

void walk_leaves_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *p) {
  launch<WRITTEN>(g, a, p);
}
