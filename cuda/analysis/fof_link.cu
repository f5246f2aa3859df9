/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fof_link: one warp for each leaf of a tree with leaves of at most WARP particles, one lane for each
 * of its particles. Union-find without locks, as ECL-CC does it (Jaiganesh & Burtscher 2018, HPDC 18, 92):
 * the head of a FoF group gets an earlier particle for a head by compare-and-swap, so that in the end all
 * heads are first particles, in whatever order the links were made. A leaf looks for links among the leaves
 * that follow it, and passes over nodes of which all particles are known to be in its own FoF group, which
 * dense halos consist of (as FDBSCAN-DenseBox, Prokopenko et al. 2023, arXiv:2103.05162). */
#include "cuda/analysis/gpu_analysis.h"
#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/levels.cuh"
#include "photons/analysis/fof_box.h"
#include "photons/domain/tree.h"

enum { BLOCK = 128 };

/** Particles in the order of a tree, and the boxes of its nodes. */
struct fof_tree {
  uint32_t count;
  unsigned depth;
  uint64_t length2;
  const uint32_t *x; /* [3][count] */
  uint32_t *head;
  struct fof_box *box; /* [tree_nodes(depth)], heap order */
};

/* Heads. */

/** What other threads change must be read from memory each time. */
static __device__ inline uint32_t read_head(const uint32_t *head, uint32_t i) {
  return ((const volatile uint32_t *)head)[i];
}

static __device__ inline uint32_t find_head(uint32_t *head, uint32_t i) {
  for (;;) {
    const uint32_t above = read_head(head, i);
    if (above == i) return i;
    const uint32_t next = read_head(head, above);
    if (next == above) return above;
    ((volatile uint32_t *)head)[i] = next; /* shorten the path: any ancestor is correct */
    i = next;
  }
}

/** @return the head of both */
static __device__ inline uint32_t unite(uint32_t *head, uint32_t i, uint32_t j) {
  for (;;) {
    i = find_head(head, i);
    j = find_head(head, j);
    if (i == j) return i;
    const uint32_t low = min(i, j), high = max(i, j);
    if (atomicCAS(&head[high], high, low) == high) return low;
  }
}

/* Leaves. */

/** The particle of a lane. Lanes beyond the end of the leaf have its last particle, too. */
struct fof_point {
  uint32_t i, x, y, z;
};

static __device__ inline struct fof_point point_of(const struct fof_tree &t, uint32_t leaf) {
  struct fof_point p;
  p.i = min(node_first(t.count, leaf) + threadIdx.x % WARP, node_end(t.count, leaf) - 1);
  p.x = t.x[p.i];
  p.y = t.x[(size_t)t.count + p.i];
  p.z = t.x[2 * (size_t)t.count + p.i];
  return p;
}

static __device__ inline struct fof_point point_of_lane(const struct fof_point &p, int lane) {
  struct fof_point q;
  q.i = __shfl_sync(~0u, p.i, lane);
  q.x = __shfl_sync(~0u, p.x, lane);
  q.y = __shfl_sync(~0u, p.y, lane);
  q.z = __shfl_sync(~0u, p.z, lane);
  return q;
}

static __device__ inline bool are_friends(const struct fof_tree &t, const struct fof_point &p,
                                          const struct fof_point &q) {
  return distance2(p.x, p.y, p.z, q.x, q.y, q.z) <= t.length2;
}

static __device__ inline bool all_equal(uint32_t a) {
  return __all_sync(~0u, a == __shfl_sync(~0u, a, 0));
}

/** The leaf of a warp; 0: there is none for it. */
static __device__ inline uint32_t leaf_of_warp(const struct fof_tree &t) {
  const uint32_t leaf = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
  return leaf < 1u << t.depth ? leaf + (1u << t.depth) : 0;
}

static __device__ inline void find_interval(uint32_t x, uint32_t *low, uint32_t *extent) {
  const uint32_t reference = __shfl_sync(~0u, x, 0);
  const int d = position_difference(x, reference), lowest = warp_min(d), highest = warp_max(d);
  *low = reference + (uint32_t)lowest;
  *extent = (uint32_t)((int64_t)highest - lowest);
}

static __global__ void __launch_bounds__(BLOCK)
    box_leaves(const __grid_constant__ struct fof_tree t) {
  const uint32_t leaf = leaf_of_warp(t);
  if (leaf == 0) return;
  const struct fof_point p = point_of(t, leaf);
  struct fof_box box;
  find_interval(p.x, &box.low[0], &box.extent[0]);
  find_interval(p.y, &box.low[1], &box.extent[1]);
  find_interval(p.z, &box.low[2], &box.extent[2]);
  if (threadIdx.x % WARP == 0) t.box[leaf] = box;
}

struct box_parent {
  struct fof_box *box;
  __device__ void operator()(uint32_t i) const {
    box[i] = fof_box_union(&box[2 * i], &box[2 * i + 1]);
  }
};

/** All particles of a node that is no larger than the linking length are friends. */
static __device__ inline bool is_small(const struct fof_tree &t, uint32_t node) {
  return fof_box_is_small(&t.box[node], t.length2);
}

/** The first heads: of particles in small nodes the first of the highest such node, of others they
 * themselves. */
static __global__ void __launch_bounds__(BLOCK)
    begin_heads(const __grid_constant__ struct fof_tree t) {
  const uint32_t leaf = leaf_of_warp(t);
  if (leaf == 0) return;
  const uint32_t i = min(node_first(t.count, leaf) + threadIdx.x % WARP,
                         node_end(t.count, leaf) - 1);
  uint32_t node = leaf;
  const bool small = is_small(t, leaf);
  while (small && node > 1 && is_small(t, node / 2)) node /= 2;
  t.head[i] = small ? node_first(t.count, node) : i;
}

/* Links. */

static __global__ void __launch_bounds__(BLOCK)
    link_inside(const __grid_constant__ struct fof_tree t) {
  const uint32_t leaf = leaf_of_warp(t);
  if (leaf == 0 || is_small(t, leaf)) return;
  const struct fof_point p = point_of(t, leaf);
  for (int lane = 1; lane < WARP; lane++) {
    const struct fof_point q = point_of_lane(p, lane);
    if (p.i < q.i && are_friends(t, p, q)) unite(t.head, p.i, q.i);
  }
}

/** The leaf of a warp while it looks for links. */
struct fof_leaf {
  struct fof_box box;
  struct fof_point point;
  uint32_t head; /* of the lane's particle, when it was last looked up */
  bool whole;    /* all particles are in one FoF group */
};

static __device__ inline void look_up(const struct fof_tree &t, struct fof_leaf *l) {
  l->head = find_head(t.head, l->point.i);
  l->whole = all_equal(l->head);
}

/** Link with the particles of another leaf. */
static __device__ inline void link_leaf(const struct fof_tree &t, struct fof_leaf *l,
                                        uint32_t other) {
  const struct fof_point mine = point_of(t, other);
  const struct fof_box at = fof_point_box(mine.x, mine.y, mine.z);
  const uint32_t other_head = find_head(t.head, mine.i);
  if (__all_sync(~0u, l->whole && other_head == l->head)) return;
  look_up(t, l); /* others may have linked them */
  const bool one_group = l->whole && all_equal(other_head);
  const bool linked = l->whole && other_head == l->head;
  uint32_t candidates = __ballot_sync(~0u,
                                      !linked && fof_boxes_distance2(&at, &l->box) <= t.length2);
  bool changed = false;
  while (candidates) {
    const struct fof_point q = point_of_lane(mine, __ffs((int)candidates) - 1);
    candidates &= candidates - 1;
    const bool friends = are_friends(t, l->point, q);
    if (friends) unite(t.head, l->point.i, q.i);
    const bool any = __any_sync(~0u, friends);
    changed = changed || any;
    if (any && one_group) break; /* one link is all there is to find */
  }
  if (changed) look_up(t, l);
}

/** The head of a particle, the same in all lanes. */
static __device__ inline uint32_t head_of(const struct fof_tree &t, uint32_t i) {
  return __shfl_sync(~0u, find_head(t.head, i), 0);
}

/** Whether all links of the leaf with a node are known. Where the whole leaf and the whole node are within
 * the linking length, this makes them known. */
static __device__ inline bool is_linked(const struct fof_tree &t, struct fof_leaf *l, uint32_t node,
                                        const struct fof_box *box) {
  if (!l->whole || !fof_box_is_small(box, t.length2)) return false;
  const uint32_t other = head_of(t, node_first(t.count, node));
  if (__all_sync(~0u, other == l->head)) return true;
  look_up(t, l); /* others may have linked them */
  if (__all_sync(~0u, other == l->head)) return true;
  const struct fof_box both = fof_box_union(&l->box, box);
  if (!fof_box_is_small(&both, t.length2)) return false;
  if (threadIdx.x % WARP == 0) unite(t.head, l->head, other);
  __syncwarp();
  look_up(t, l);
  return true;
}

/** The node after a node and all below it; 1: there is none. */
static __device__ inline uint32_t node_after(uint32_t node) {
  node++;
  return node >> (__ffs((int)node) - 1);
}

static __global__ void __launch_bounds__(BLOCK)
    link_leaves(const __grid_constant__ struct fof_tree t) {
  const uint32_t leaf = leaf_of_warp(t), leaf_begin = 1u << t.depth;
  if (leaf == 0) return;
  struct fof_leaf l;
  l.box = t.box[leaf];
  l.point = point_of(t, leaf);
  look_up(t, &l);
  for (uint32_t node = node_after(leaf); node > 1;) {
    const struct fof_box box = t.box[node];
    const bool near = fof_boxes_distance2(&l.box, &box) <= t.length2 &&
                      !is_linked(t, &l, node, &box);
    if (near && node < leaf_begin) {
      node = 2 * node;
      continue;
    }
    if (near) link_leaf(t, &l, node);
    node = node_after(node);
  }
}

static __global__ void settle_heads(uint32_t count, uint32_t *head) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < count) ((volatile uint32_t *)head)[i] = find_head(head, i);
}

static __global__ void number_heads(uint32_t first, uint32_t count, uint32_t *head) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < count) head[i] += first;
}

void gpu_fof_link(struct gpu *gpu, uint32_t first, uint32_t count, uint64_t length2,
                  const uint32_t *x, uint32_t *head) {
  struct fof_tree t = {count, 0, length2, x, head, NULL};
  while (((count - 1) >> t.depth) + 1 > WARP) t.depth++;
  t.box = (struct fof_box *)gpu_scratch(gpu, SCRATCH_TABLE, tree_nodes(t.depth) * sizeof *t.box);
  const uint32_t blocks = blocks_for((uint64_t)WARP << t.depth, BLOCK),
                 all = blocks_for(count, BLOCK);
  box_leaves<<<blocks, BLOCK, 0, gpu->stream>>>(t);
  gpu_launched("fof_link");
  if (t.depth > 0) upward(gpu, t.depth - 1, box_parent{t.box});
  begin_heads<<<blocks, BLOCK, 0, gpu->stream>>>(t);
  gpu_launched("fof_link");
  link_inside<<<blocks, BLOCK, 0, gpu->stream>>>(t);
  gpu_launched("fof_link");
  link_leaves<<<blocks, BLOCK, 0, gpu->stream>>>(t);
  gpu_launched("fof_link");
  settle_heads<<<all, BLOCK, 0, gpu->stream>>>(count, head);
  gpu_launched("fof_link");
  number_heads<<<all, BLOCK, 0, gpu->stream>>>(first, count, head);
  gpu_launched("fof_link");
}
