/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both walks on GPUs have in common. */
#ifndef PHOTONS_CUDA_WALK_CUH
#define PHOTONS_CUDA_WALK_CUH

#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/gpu_tree.h"

/* The counting pass of walk_leaves_ can keep what it finds until the places in the lists are known.
 * Entries of a leaf's near list are kept in blocks. */
enum { NEAR_BLOCK = 64 };
struct near_block {
  uint32_t leaf, first; /* of its list, entries from `first` on */
};
/** An entry of a far list; in walk_pairs_ of any list, with the list's row in the place of the
 * target. */
struct kept_entry {
  uint32_t target, place, entry; /* entry number `place` of the list of node `target` */
};

struct walk_problem {
  uint32_t count, slots;
  unsigned depth; /* of the targets' tree; that of the sources' trees is in struct acceptance */
  const uint32_t *first; /* table of the targets' leaves, or NULL */
  const struct node *nodes;
  const struct node *const *source_nodes;
  const uint32_t *source_count;
  const float *const *source_mass;     /* of their nodes, where masses differ; or NULL */
  const struct tree_part *source_part; /* that is here of them; NULL: all */
  const float *own_mass; /* the first of these, which is the targets' group's; or NULL */
  float weight;          /* of packed targets: see packed_weight() */
  bool bounds_sums;      /* see walk_bounds_sums() */
  uint32_t *near_offset, *far_offset; /* lengths of the lists in the counting pass, offsets in the
                                         other */
  uint32_t *near, *far;
  struct list_room room;    /* memory for lists in the counting pass, or none */
  struct near_block *block; /* [blocks_most] */
  uint32_t blocks_most;
  uint32_t *near_kept;         /* [blocks_most][NEAR_BLOCK] entries of near lists */
  struct kept_entry *far_kept; /* [kept_most] */
  uint32_t kept_most;
  struct walk_result *result; /* pairs and visits, added up in the counting pass */
};

/** Read a node in two loads. */
static __device__ inline struct node load_node(const struct node *from) {
  static_assert(sizeof(struct node) == 2 * sizeof(uint4), "a node is two loads");
  union {
    uint4 word[2];
    struct node node;
  } u;
  u.word[0] = __ldg((const uint4 *)from);
  u.word[1] = __ldg((const uint4 *)from + 1);
  return u.node;
}

/** Mask of the lanes before this one. */
static __device__ inline uint32_t lanes_before() { return (1u << threadIdx.x % WARP) - 1; }

/** Number of particles of a source node. */
static __device__ inline uint32_t particles_of(uint32_t count, uint32_t node) {
  return node_end(count, node) - node_first(count, node);
}
/** Mass of a neighbour's node. */
static __device__ inline float mass_of(const struct walk_problem &p, uint32_t slot, uint32_t node) {
  return p.source_mass ? p.source_mass[slot][node]
                       : (float)particles_of(p.source_count[slot], node);
}
/** Mass of a node of targets. */
static __device__ inline float target_mass(const struct walk_problem &p, uint32_t node) {
  if (p.first) return p.weight * (float)tree_node_count(p.count, p.depth, p.first, node);
  return p.source_mass ? p.source_mass[0][node] : (float)particles_of(p.count, node);
}

/** Whether what is below a source is not here. The host ends the run then: see walk_check(). */
static __device__ inline bool lacks_below(const struct walk_problem &p, uint32_t slot,
                                          uint32_t source) {
  if (!p.source_part || part_has_below(&p.source_part[slot], source)) return false;
  atomicMax(&p.result->lacks, source);
  return true;
}

/** What becomes of the entries that are found: only their number is wanted; they are written to their
 * places; or they are kept until their places are known. */
enum entries { COUNTED, WRITTEN, KEPT };

/** A warp's near list. */
struct near_found {
  uint32_t at;    /* its place in the list of all leaves, if that is known */
  uint32_t count; /* entries found so far */
  uint32_t block; /* where the last of them are kept */
};

/** Keep the next entries of a near list, those of the given lanes. */
static __device__ inline void keep_near(const struct walk_problem &p, uint32_t leaf, uint32_t lanes,
                                        uint32_t entry, struct near_found &found) {
  const uint32_t lane = threadIdx.x % WARP, old = found.block;
  if (lanes == 0) return;
  static_assert(NEAR_BLOCK >= WARP, "the lanes begin at most one block");
  const uint32_t last = (found.count + __popc(lanes) - 1) / NEAR_BLOCK;
  if (found.count % NEAR_BLOCK == 0 || found.count / NEAR_BLOCK < last) {
    if (lane == 0) {
      found.block = atomicAdd(&p.result->near_blocks, 1);
      if (found.block < p.blocks_most) p.block[found.block] = {leaf, last * NEAR_BLOCK};
    }
    found.block = __shfl_sync(~0u, found.block, 0);
  }
  const uint32_t at = found.count + __popc(lanes & lanes_before()),
                 block = at / NEAR_BLOCK < last ? old : found.block;
  if ((lanes >> lane & 1) && block < p.blocks_most)
    p.near_kept[(size_t)block * NEAR_BLOCK + at % NEAR_BLOCK] = entry;
}

/** Add the entries of the given lanes to a near list. */
template <enum entries ENTRIES>
static __device__ inline void add_near(const struct walk_problem &p, uint32_t leaf, uint32_t lanes,
                                       uint32_t entry, struct near_found &found) {
  if (ENTRIES == KEPT) keep_near(p, leaf, lanes, entry, found);
  if (ENTRIES == WRITTEN && (lanes >> threadIdx.x % WARP & 1))
    p.near[found.at + found.count + __popc(lanes & lanes_before())] = entry;
  found.count += __popc(lanes);
}

/** Store the length of a leaf's near list, and add up the pairs and visits of the warp's lanes. */
static __device__ inline void store_near(const struct walk_problem &p, uint32_t leaf, bool has_leaf,
                                         uint32_t count, unsigned long long pairs,
                                         unsigned long long visits) {
  for (int step = WARP / 2; step > 0; step /= 2) {
    pairs += __shfl_xor_sync(~0u, pairs, step);
    visits += __shfl_xor_sync(~0u, visits, step);
  }
  if (threadIdx.x % WARP > 0) return;
  if (has_leaf) p.near_offset[leaf] = count;
  atomicAdd((unsigned long long *)&p.result->pairs, pairs);
  atomicAdd((unsigned long long *)&p.result->visits, visits);
}

/** Set the lengths of the lists, and the result, to zero. */
void walk_clear(struct gpu *g, const struct walk_problem *p);
/** Turn the lengths of the lists into offsets. */
void walk_scan(struct gpu *g, const struct acceptance *a, const struct walk_problem *p);
/** Count: add to the lengths of the lists, which are zero at the start, and to the result. Fill:
 * write the entries. walk_pairs_count() does all that gpu_walk() is to do.
 * walk_reach_ is the one for short-range forces without expansions, walk_leaves_ that for such forces
 * with expansions: both have a warp for each leaf. walk_pairs_ judges each pair of nodes once: its
 * other costs pay where walks begin far above the leaves. */
void walk_reach_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *p);
void walk_reach_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *p);
void walk_leaves_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *p);
void walk_leaves_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *p);
void walk_pairs_count(struct gpu *g, const struct acceptance *a, const struct walk_problem *p);
/** @param lengths  what the counting pass has found */
void walk_pairs_fill(struct gpu *g, const struct acceptance *a, const struct walk_problem *p,
                     const struct walk_result *lengths);

#endif
