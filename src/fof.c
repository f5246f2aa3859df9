/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends on the groups' trees. */
#include "photons/fof.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "photons/analysis_tasks.h"
#include "photons/error.h"
#include "photons/kernels.h"
#include "photons/tree.h"

/* Union-find without locks: head[i] is an earlier particle of i's group, or i itself. Only the head of a group is ever
 * given a new one, by compare-and-swap and always an earlier particle, so that in the end every group's head is its first
 * particle, whoever linked what first. */

static uint32_t find(struct fof *f, uint32_t i) {
  _Atomic uint32_t *head = (_Atomic uint32_t *)f->head;
  for (;;) {
    uint32_t above = atomic_load_explicit(&head[i], memory_order_relaxed);
    if (above == i) return i;
    uint32_t next = atomic_load_explicit(&head[above], memory_order_relaxed);
    if (next == above) return above;
    atomic_store_explicit(&head[i], next, memory_order_relaxed); /* shorten the path: any ancestor will do */
    i = next;
  }
}

static void unite(struct fof *f, uint32_t i, uint32_t j) {
  _Atomic uint32_t *head = (_Atomic uint32_t *)f->head;
  for (;;) {
    i = find(f, i);
    j = find(f, j);
    if (i == j) return;
    uint32_t low = i < j ? i : j, high = i < j ? j : i, expected = high;
    if (atomic_compare_exchange_weak_explicit(&head[high], &expected, low, memory_order_relaxed, memory_order_relaxed))
      return;
  }
}

/* Boxes. */

static struct fof_box box_around(size_t n, uint32_t *const x[3], size_t first) {
  struct fof_box box;
  for (size_t c = 0; c < 3; c++) {
    int32_t low = 0, high = 0;
    for (size_t i = 1; i < n; i++) {
      int32_t d = (int32_t)(x[c][first + i] - x[c][first]);
      low = d < low ? d : low;
      high = d > high ? d : high;
    }
    box.low[c] = x[c][first] + (uint32_t)low;
    box.extent[c] = (uint32_t)((int64_t)high - low);
  }
  return box;
}

/** The shorter of the two periodic intervals that begin at one's low end and cover both. */
static struct fof_box box_union(const struct fof_box *a, const struct fof_box *b) {
  struct fof_box box;
  for (int c = 0; c < 3; c++) {
    uint64_t from_a = (uint64_t)(uint32_t)(b->low[c] - a->low[c]) + b->extent[c];
    uint64_t from_b = (uint64_t)(uint32_t)(a->low[c] - b->low[c]) + a->extent[c];
    from_a = from_a > a->extent[c] ? from_a : a->extent[c];
    from_b = from_b > b->extent[c] ? from_b : b->extent[c];
    uint64_t extent = from_a < from_b ? from_a : from_b;
    box.low[c] = extent > UINT32_MAX ? 0 : from_a < from_b ? a->low[c] : b->low[c];
    box.extent[c] = extent > UINT32_MAX ? UINT32_MAX : (uint32_t)extent;
  }
  return box;
}

/** Gap between two periodic intervals: from the end of each to the beginning of the other, the shorter way. */
static inline uint32_t gap(uint32_t low_a, uint32_t extent_a, uint32_t low_b, uint32_t extent_b) {
  uint32_t to_b = low_b - low_a, to_a = low_a - low_b;
  if (to_b <= extent_a || to_a <= extent_b) return 0;
  to_b -= extent_a;
  to_a -= extent_b;
  return to_b < to_a ? to_b : to_a;
}

static uint64_t boxes_distance2(const struct fof_box *a, const struct fof_box *b) {
  uint64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    uint64_t d = gap(a->low[c], a->extent[c], b->low[c], b->extent[c]);
    sum += d * d; /* d < 2^31 */
  }
  return sum;
}

uint64_t fof_box_distance2(const struct fof_box *box, const uint32_t point[3]) {
  const struct fof_box b = {.low = {point[0], point[1], point[2]}};
  return boxes_distance2(box, &b);
}

/** Are any two points of the box within the linking length? */
static bool box_is_small(const struct fof *f, const struct fof_box *box) {
  uint64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    if (box->extent[c] > INT32_MAX) return false; /* the length is shorter than half the box */
    sum += (uint64_t)box->extent[c] * box->extent[c];
  }
  return sum <= f->length2;
}

/* Walks. */

/** One block in a walk. */
struct side {
  struct particle_block block;
  const struct fof_box *boxes;
  bool *whole;
};

/** Linking of one block, or of a pair. */
struct link {
  struct fof *fof;
  const struct fof_kernels *kernels;
  float limit2;                    /* length2 with a margin for float */
  uint32_t reach;                  /* linking length, rounded up */
  uint32_t leaf_begin;             /* first leaf in the heap */
  uint32_t *near_a, *near_b, *hit; /* indices in a leaf */
  uint32_t *x;                     /* coordinates of near_b, one component after the other */
  uint32_t room;                   /* of each of them */
};

static struct side side_of(struct fof *f, size_t g) {
  return (struct side){.block = particles_block(f->particles, g),
                       .boxes = f->boxes + g * tree_nodes(f->depth),
                       .whole = f->whole + g * tree_nodes(f->depth)};
}

static struct link link_begin(struct fof *f) {
  const struct particles *s = f->particles;
  uint32_t room = (uint32_t)(((s->count / s->blocks + 1) >> f->depth) + 8) &
                  ~7u; /* kernels write whole bytes of eight */
  struct link l = {.fof = f,
                   .kernels = &kernels_select()->fof,
                   .limit2 = (float)((double)f->length2 * (1.0 + 1e-5)), /* float's rounding is 1e-7 */
                   .reach = (uint32_t)ceil(sqrt((double)f->length2)) + 1,
                   .leaf_begin = 1u << f->depth,
                   .room = room};
  l.near_a = allocate(6 * (size_t)room, sizeof *l.near_a, "friends of friends");
  l.near_b = l.near_a + room;
  l.hit = l.near_b + room;
  l.x = l.hit + room;
  return l;
}

static void link_end(struct link *l) { free(l->near_a); }

static inline uint32_t node_head(const struct link *l, const struct side *s, uint32_t node) {
  return find(l->fof, (uint32_t)s->block.first + node_first((uint32_t)s->block.count, node));
}

/** Indices of a leaf's particles within reach of another's box. */
static uint32_t near_box(const struct link *l, const struct side *s, uint32_t leaf, const struct fof_box *other,
                         uint32_t *index) {
  const uint32_t first = node_first((uint32_t)s->block.count, leaf),
                 n = node_end((uint32_t)s->block.count, leaf) - first;
  uint32_t low[3], extent[3];
  for (int c = 0; c < 3; c++) {
    uint64_t wide = (uint64_t)other->extent[c] + 2 * (uint64_t)l->reach;
    low[c] = other->low[c] - l->reach;
    extent[c] = wide > UINT32_MAX ? UINT32_MAX : (uint32_t)wide;
  }
  uint32_t *const *x = s->block.x;
  uint32_t found = l->kernels->near_box(n, x[0] + first, x[1] + first, x[2] + first, low, extent, index);
  for (uint32_t i = 0; i < found; i++) index[i] += first;
  return found;
}

/** Link the particles of two leaves. Where both are whole one link is all that there is to find. */
static void link_leaves(const struct link *l, const struct side *a, uint32_t leaf_a, const struct side *b,
                        uint32_t leaf_b) {
  if (b->whole[leaf_b] < a->whole[leaf_a]) { /* the whole one last: its search ends with the first hit */
    const struct side *side = a;
    const uint32_t leaf = leaf_a;
    a = b, leaf_a = leaf_b, b = side, leaf_b = leaf;
  }
  const uint32_t count_a = near_box(l, a, leaf_a, &b->boxes[leaf_b], l->near_a);
  if (count_a == 0) return;
  const uint32_t count_b = near_box(l, b, leaf_b, &a->boxes[leaf_a], l->near_b);
  uint32_t *x = l->x, *y = x + l->room, *z = y + l->room;
  for (uint32_t j = 0; j < count_b; j++) {
    x[j] = b->block.x[0][l->near_b[j]];
    y[j] = b->block.x[1][l->near_b[j]];
    z[j] = b->block.x[2][l->near_b[j]];
  }
  for (uint32_t i = 0; i < count_a; i++) {
    const uint32_t p = l->near_a[i], point[3] = {a->block.x[0][p], a->block.x[1][p], a->block.x[2][p]};
    const uint32_t hits = l->kernels->near_point(count_b, x, y, z, point, l->limit2, l->hit);
    for (uint32_t h = 0; h < hits; h++) {
      const uint32_t j = l->hit[h];
      if (distance2(point[0], point[1], point[2], x[j], y[j], z[j]) > l->fof->length2) continue;
      unite(l->fof, (uint32_t)a->block.first + p, (uint32_t)b->block.first + l->near_b[j]);
      if (b->whole[leaf_b]) {
        if (a->whole[leaf_a]) return;
        break;
      }
    }
  }
}

/** Link the particles of two nodes. */
static void link_pair(const struct link *l, const struct side *a, uint32_t node_a, const struct side *b,
                      uint32_t node_b) {
  const struct fof_box *box_a = &a->boxes[node_a], *box_b = &b->boxes[node_b];
  if (boxes_distance2(box_a, box_b) > l->fof->length2) return;
  if (a->whole[node_a] && b->whole[node_b]) {
    const uint32_t head_a = node_head(l, a, node_a), head_b = node_head(l, b, node_b);
    if (head_a == head_b) return;
    const struct fof_box both = box_union(box_a, box_b);
    if (box_is_small(l->fof, &both)) {
      unite(l->fof, head_a, head_b);
      return;
    }
  }
  const bool leaf_a = node_a >= l->leaf_begin, leaf_b = node_b >= l->leaf_begin;
  if (leaf_a && leaf_b) {
    link_leaves(l, a, node_a, b, node_b);
  } else if (leaf_b || (!leaf_a && node_a <= node_b)) { /* heap order: the lower number stands higher in its tree */
    link_pair(l, a, 2 * node_a, b, node_b);
    link_pair(l, a, 2 * node_a + 1, b, node_b);
  } else {
    link_pair(l, a, node_a, b, 2 * node_b);
    link_pair(l, a, node_a, b, 2 * node_b + 1);
  }
}

/** Link the particles inside a leaf; are they of one group? */
static bool link_leaf(const struct link *l, const struct side *s, uint32_t leaf) {
  const uint32_t first = node_first((uint32_t)s->block.count, leaf), end = node_end((uint32_t)s->block.count, leaf);
  uint32_t *const *x = s->block.x;
  const uint32_t base = (uint32_t)s->block.first;
  for (uint32_t i = first; i + 1 < end; i++) {
    const uint32_t point[3] = {x[0][i], x[1][i], x[2][i]};
    const uint32_t hits = l->kernels->near_point(end - i - 1, x[0] + i + 1, x[1] + i + 1, x[2] + i + 1, point,
                                                 l->limit2, l->hit);
    for (uint32_t h = 0; h < hits; h++) {
      const uint32_t j = i + 1 + l->hit[h];
      if (distance2(point[0], point[1], point[2], x[0][j], x[1][j], x[2][j]) <= l->fof->length2)
        unite(l->fof, base + i, base + j);
    }
  }
  const uint32_t head = find(l->fof, base + first);
  for (uint32_t i = first + 1; i < end; i++)
    if (find(l->fof, base + i) != head) return false;
  return true;
}

/** Link the particles inside a node; are they of one group? */
static bool link_node(const struct link *l, const struct side *s, uint32_t node) {
  bool whole;
  if (box_is_small(l->fof, &s->boxes[node])) {
    const uint32_t first = node_first((uint32_t)s->block.count, node), end = node_end((uint32_t)s->block.count, node);
    const uint32_t base = (uint32_t)s->block.first;
    for (uint32_t i = first + 1; i < end; i++) unite(l->fof, base + first, base + i);
    for (uint32_t begin = node, width = 1; begin < 2 * l->leaf_begin; begin *= 2, width *= 2)
      for (uint32_t i = 0; i < width; i++) s->whole[begin + i] = true;
    return true;
  }
  if (node >= l->leaf_begin) {
    whole = link_leaf(l, s, node);
  } else {
    const bool left = link_node(l, s, 2 * node), right = link_node(l, s, 2 * node + 1);
    link_pair(l, s, 2 * node, s, 2 * node + 1);
    whole = left && right && node_head(l, s, 2 * node) == node_head(l, s, 2 * node + 1);
  }
  return s->whole[node] = whole;
}

/* Tasks, one a block. */

static void link_block(void *context, uint32_t g) {
  struct fof *f = context;
  struct fof_box *boxes = f->boxes + (size_t)g * tree_nodes(f->depth);
  const struct side side = side_of(f, g);
  const uint32_t count = (uint32_t)side.block.count, leaf_begin = 1u << f->depth;
  for (uint32_t leaf = leaf_begin; leaf < 2 * leaf_begin; leaf++)
    boxes[leaf] = box_around(node_end(count, leaf) - node_first(count, leaf), side.block.x, node_first(count, leaf));
  for (uint32_t node = leaf_begin - 1; node > 0; node--)
    boxes[node] = box_union(&boxes[2 * node], &boxes[2 * node + 1]);
  for (uint32_t i = 0; i < count; i++) f->head[side.block.first + i] = (uint32_t)side.block.first + i;
  struct link l = link_begin(f);
  link_node(&l, &side, 1);
  link_end(&l);
  f->top[f->particles->blocks + g] = boxes[1];
}

/** The blocks under a node of the top tree that come after block g and may touch it. */
static void link_blocks(const struct link *l, const struct side *a, uint32_t g, uint32_t node) {
  struct fof *f = l->fof;
  const uint32_t blocks = (uint32_t)f->particles->blocks, below = f->top_depth - node_level(node);
  const uint32_t last = ((node + 1) << below) - 1 - blocks; /* its last block */
  if (last <= g || boxes_distance2(&f->top[node], &a->boxes[1]) > f->length2) return;
  if (below > 0) {
    link_blocks(l, a, g, 2 * node);
    link_blocks(l, a, g, 2 * node + 1);
  } else {
    const struct side b = side_of(f, node - blocks);
    link_pair(l, a, 1, &b, 1);
  }
}

static void link_to_others(void *context, uint32_t g) {
  struct fof *f = context;
  const struct side side = side_of(f, g);
  struct link l = link_begin(f);
  link_blocks(&l, &side, g, 1);
  link_end(&l);
}

static void settle_heads(void *context, uint32_t g) {
  struct fof *f = context;
  const struct particle_block b = particles_block(f->particles, g);
  for (size_t i = b.first; i < b.first + b.count; i++) f->head[i] = find(f, (uint32_t)i);
}

uint64_t fof_length2(double length, double box) {
  const double units = length / box * 4294967296.0;
  return (uint64_t)(units * units);
}

struct fof *fof_find(const struct particles *s, unsigned depth, double length) {
  if (s->count > UINT32_MAX)
    fail(EXIT_RUN_FAILED, "friends of friends: %zu particles are more than 2^32 on one process", s->count);
  if (length >= 0.25 * s->box)
    fail(EXIT_BAD_USAGE, "analysis.linking_length: %g Mpc/h is a quarter of the box or more", length);
  struct fof *f = allocate(1, sizeof *f, "friends of friends");
  const size_t nodes = s->blocks * tree_nodes(depth);
  f->particles = s;
  f->depth = depth;
  while ((size_t)1 << f->top_depth < s->blocks) f->top_depth++;
  f->length2 = fof_length2(length, s->box);
  f->boxes = allocate(nodes, sizeof *f->boxes, "boxes for friends of friends");
  f->whole = allocate(nodes, sizeof *f->whole, "boxes for friends of friends");
  f->top = allocate(tree_nodes(f->top_depth), sizeof *f->top, "boxes for friends of friends");
  f->head = allocate(s->count, sizeof *f->head, "heads of groups");
  const uint32_t blocks = (uint32_t)s->blocks;
  analysis_for(ANALYSIS_FOF, blocks, link_block, f);
  for (uint32_t node = blocks - 1; node > 0; node--) f->top[node] = box_union(&f->top[2 * node], &f->top[2 * node + 1]);
  analysis_for(ANALYSIS_FOF, blocks, link_to_others, f);
  analysis_for(ANALYSIS_FOF, blocks, settle_heads, f);
  return f;
}

void fof_free(struct fof *f) {
  if (!f) return;
  free(f->boxes);
  free(f->whole);
  free(f->top);
  free(f->head);
  free(f);
}
