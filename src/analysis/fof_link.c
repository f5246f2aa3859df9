/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends along trees: links inside an ORB group or between two of them. */
#include "fof_link.h"
#include "photons/domain/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/domain/tree.h"

/* Boxes of the nodes. */

static struct fof_box box_around(const struct side *s, uint32_t leaf) {
  const uint32_t first = node_first(s->count, leaf), n = node_end(s->count, leaf) - first;
  struct fof_box box;
  fof_kernels_select()->measure_box(n, s->x[0] + first, s->x[1] + first, s->x[2] + first, box.low,
                                    box.extent);
  return box;
}

/* Walks. */

struct side side_of_block(struct fof *f, size_t g) {
  const struct particle_block b = particles_block(f->particles, g);
  return (struct side){.first = (uint32_t)b.first,
                       .count = (uint32_t)b.count,
                       .x = {b.x[0], b.x[1], b.x[2]},
                       .leaf_begin = 1u << f->depth,
                       .boxes = f->boxes + g * tree_nodes(f->depth),
                       .whole = f->whole + g * tree_nodes(f->depth)};
}

void side_fill_boxes(const struct side *s, uint32_t node) {
  if (node >= s->leaf_begin) {
    s->boxes[node] = box_around(s, node);
    return;
  }
  side_fill_boxes(s, 2 * node);
  side_fill_boxes(s, 2 * node + 1);
  s->boxes[node] = fof_box_union(&s->boxes[2 * node], &s->boxes[2 * node + 1]);
}

void side_join_boxes(const struct side *s, unsigned level) {
  for (uint32_t node = (1u << level) - 1; node > 0; node--)
    s->boxes[node] = fof_box_union(&s->boxes[2 * node], &s->boxes[2 * node + 1]);
}

static bool leaf_is_whole(struct fof *f, const struct side *s, uint32_t leaf) {
  const uint32_t first = s->first + node_first(s->count, leaf),
                 end = s->first + node_end(s->count, leaf), head = fof_head(f, first);
  for (uint32_t i = first + 1; i < end; i++)
    if (fof_above(f, i) != head && fof_head(f, i) != head) return false;
  return true;
}

bool side_fill_whole(struct fof *f, const struct side *s, uint32_t node) {
  bool whole;
  if (node >= s->leaf_begin) {
    whole = leaf_is_whole(f, s, node);
  } else {
    const bool left = side_fill_whole(f, s, 2 * node), right = side_fill_whole(f, s, 2 * node + 1);
    whole = left && right &&
            fof_head(f, s->first + node_first(s->count, node)) ==
                fof_head(f, s->first + node_first(s->count, 2 * node + 1));
  }
  return s->whole[node] = whole;
}

struct link link_begin(struct fof *f) {
  const struct particles *s = f->particles;
  const size_t leaf = ((s->all / s->all_blocks + 1) >> f->depth) + 1,
               most = leaf > GHOST_LEAF + 1 ? leaf : GHOST_LEAF + 1;
  const uint32_t room = (uint32_t)most + FOF_PADDING;
  struct link l = {.fof = f,
                   .kernels = fof_kernels_select(),
                   /* float's rounding is 1e-7 */
                   .limit2 = (float)((double)f->length2 * (1.0 + 1e-5)),
                   .reach = (uint32_t)ceil(sqrt((double)f->length2)) + 1,
                   .room = room};
  l.near_a = allocate(7 * (size_t)room, sizeof *l.near_a, "friends of friends");
  l.near_b = l.near_a + room;
  l.hit = l.near_b + room;
  l.place = l.hit + room;
  l.x = l.place + room;
  return l;
}

void link_end(struct link *l) { free(l->near_a); }

static inline uint32_t node_head(const struct link *l, const struct side *s, uint32_t node) {
  return fof_head(l->fof, s->first + node_first(s->count, node));
}

/** List the particles of a leaf that are in reach of the other box. @return their number */
static uint32_t near_box(const struct link *l, const struct side *s, uint32_t leaf,
                         const struct fof_box *other, uint32_t *index) {
  const uint32_t first = node_first(s->count, leaf), n = node_end(s->count, leaf) - first;
  uint32_t low[3], extent[3];
  for (int c = 0; c < 3; c++) {
    uint64_t wide = (uint64_t)other->extent[c] + 2 * (uint64_t)l->reach;
    low[c] = other->low[c] - l->reach;
    extent[c] = wide > UINT32_MAX ? UINT32_MAX : (uint32_t)wide;
  }
  uint32_t *const *x = s->x;
  uint32_t found = l->kernels->near_box(n, x[0] + first, x[1] + first, x[2] + first, low, extent,
                                        index);
  for (uint32_t i = 0; i < found; i++) index[i] += first;
  return found;
}

/** Link two particles if they are near each other. @return whether they are known to be in one FoF group then */
static inline bool link_two(const struct link *l, const uint32_t x[3], uint32_t i,
                            const uint32_t y[3], uint32_t j) {
  if (fof_above(l->fof, i) == fof_above(l->fof, j)) return true;
  if (distance2(x[0], x[1], x[2], y[0], y[1], y[2]) > l->fof->length2) return false;
  fof_unite(l->fof, i, j);
  return true;
}

/** Link the particles of two leaves. If all particles of each leaf are already known to be in one
 * FoF group, one link is all there is to find. */
static void link_leaves(const struct link *l, const struct side *a, uint32_t leaf_a,
                        const struct side *b, uint32_t leaf_b) {
  if (b->whole[leaf_b] < a->whole[leaf_a]) { /* the leaf known to be whole comes last: its search
                                                ends with the first hit */
    const struct side *side = a;
    const uint32_t leaf = leaf_a;
    a = b, leaf_a = leaf_b, b = side, leaf_b = leaf;
  }
  const uint32_t count_a = near_box(l, a, leaf_a, &b->boxes[leaf_b], l->near_a);
  if (count_a == 0) return;
  const uint32_t count_b = near_box(l, b, leaf_b, &a->boxes[leaf_a], l->near_b);
  uint32_t *x = l->x, *y = x + l->room, *z = y + l->room;
  for (uint32_t j = 0; j < count_b; j++) {
    x[j] = b->x[0][l->near_b[j]];
    y[j] = b->x[1][l->near_b[j]];
    z[j] = b->x[2][l->near_b[j]];
  }
  for (uint32_t i = 0; i < count_a; i++) {
    const uint32_t p = l->near_a[i], point[3] = {a->x[0][p], a->x[1][p], a->x[2][p]};
    const uint32_t hits = l->kernels->near_point(count_b, x, y, z, point, l->limit2, l->hit);
    for (uint32_t h = 0; h < hits; h++) {
      const uint32_t j = l->hit[h], to[3] = {x[j], y[j], z[j]};
      if (!link_two(l, point, a->first + p, to, b->first + l->near_b[j])) continue;
      if (b->whole[leaf_b]) {
        if (a->whole[leaf_a]) return;
        break;
      }
    }
  }
}

void link_pair(const struct link *l, const struct side *a, uint32_t node_a, const struct side *b,
               uint32_t node_b) {
  const struct fof_box *box_a = &a->boxes[node_a], *box_b = &b->boxes[node_b];
  if (fof_boxes_distance2(box_a, box_b) > l->fof->length2) return;
  if (a->whole[node_a] && b->whole[node_b]) {
    const uint32_t head_a = node_head(l, a, node_a), head_b = node_head(l, b, node_b);
    if (head_a == head_b) return;
    const struct fof_box both = fof_box_union(box_a, box_b);
    if (fof_box_is_small(&both, l->fof->length2)) {
      fof_unite(l->fof, head_a, head_b);
      return;
    }
  }
  const bool leaf_a = node_a >= a->leaf_begin, leaf_b = node_b >= b->leaf_begin;
  if (leaf_a && leaf_b) {
    link_leaves(l, a, node_a, b, node_b);
  } else if (leaf_b || (!leaf_a && node_a <= node_b)) { /* heap order: the lower number stands
                                                           higher in its tree */
    link_pair(l, a, 2 * node_a, b, node_b);
    link_pair(l, a, 2 * node_a + 1, b, node_b);
  } else {
    link_pair(l, a, node_a, b, 2 * node_b);
    link_pair(l, a, node_a, b, 2 * node_b + 1);
  }
}

/** The particles of a leaf that are in no FoF group yet, in any order. */
struct loose {
  uint32_t *x[3], *index, count; /* index: in the leaf */
  uint32_t *place;               /* [particle of the leaf] among them, or TAKEN */
};

#define TAKEN UINT32_MAX

static void loosen(const struct link *l, const struct side *s, uint32_t first, uint32_t count,
                   struct loose *out) {
  *out = (struct loose){.x = {l->x, l->x + l->room, l->x + 2 * l->room},
                        .index = l->near_a,
                        .count = count,
                        .place = l->place};
  for (int c = 0; c < 3; c++) memcpy(out->x[c], s->x[c] + first, count * sizeof *out->x[c]);
  for (uint32_t i = 0; i < count; i++) out->index[i] = out->place[i] = i;
}

/** The last particle comes to the place of one that is taken. */
static inline void take(struct loose *p, uint32_t k) {
  const uint32_t last = --p->count, index = p->index[last];
  for (int c = 0; c < 3; c++) p->x[c][k] = p->x[c][last];
  p->place[p->index[k]] = TAKEN;
  p->index[k] = index;
  if (k != last) p->place[index] = k;
}

/** Take the particles that are linked to a point, and append them to a list. @return its new end */
static uint32_t take_linked(const struct link *l, struct loose *p, const uint32_t x[3],
                            uint32_t *list, uint32_t end) {
  const uint32_t hits = l->kernels->near_point(p->count, p->x[0], p->x[1], p->x[2], x, l->limit2,
                                               l->hit);
  for (uint32_t h = hits; h-- > 0;) { /* from the last one on: those before keep their places */
    const uint32_t k = l->hit[h];
    if (distance2(x[0], x[1], x[2], p->x[0][k], p->x[1][k], p->x[2][k]) > l->fof->length2) continue;
    list[end++] = p->index[k];
    take(p, k);
  }
  return end;
}

/** Link the particles inside a leaf, none of which is linked yet: from the first particle on, those linked to it, those linked to
 * these, and so on. @return whether they are all in one FoF group */
static bool link_leaf(const struct link *l, const struct side *s, uint32_t leaf) {
  const uint32_t first = node_first(s->count, leaf), count = node_end(s->count, leaf) - first;
  uint32_t *const list = l->near_b, *const head = l->fof->head + s->first + first;
  bool whole = true;
  struct loose p;
  loosen(l, s, first, count, &p);
  for (uint32_t i = 0; i < count && p.count > 0; i++) {
    if (p.place[i] == TAKEN) continue;
    take(&p, p.place[i]);
    list[0] = i;
    for (uint32_t k = 0, end = 1; k < end && p.count > 0; k++) {
      const uint32_t from = first + list[k], x[3] = {s->x[0][from], s->x[1][from], s->x[2][from]},
                     before = end;
      end = take_linked(l, &p, x, list, end);
      for (uint32_t j = before; j < end; j++) head[list[j]] = s->first + first + i;
    }
    whole = whole && i == 0 && p.count == 0;
  }
  return whole;
}

bool link_node(const struct link *l, const struct side *s, uint32_t node) {
  bool whole;
  if (fof_box_is_small(&s->boxes[node], l->fof->length2)) {
    const uint32_t first = node_first(s->count, node), end = node_end(s->count, node);
    const uint32_t base = s->first;
    for (uint32_t i = first + 1; i < end; i++) fof_unite(l->fof, base + first, base + i);
    for (uint32_t begin = node, width = 1; begin < 2 * s->leaf_begin; begin *= 2, width *= 2)
      for (uint32_t i = 0; i < width; i++) s->whole[begin + i] = true;
    return true;
  }
  if (node >= s->leaf_begin) {
    whole = link_leaf(l, s, node);
  } else {
    const bool left = link_node(l, s, 2 * node), right = link_node(l, s, 2 * node + 1);
    link_pair(l, s, 2 * node, s, 2 * node + 1);
    whole = left && right && node_head(l, s, 2 * node) == node_head(l, s, 2 * node + 1);
  }
  return s->whole[node] = whole;
}

void fof_link_block(struct fof *f, uint32_t g) {
  const struct side side = side_of_block(f, g);
  side_fill_boxes(&side, 1);
  for (uint32_t i = 0; i < side.count; i++) f->head[side.first + i] = side.first + i;
  struct link l = link_begin(f);
  link_node(&l, &side, 1);
  link_end(&l);
}
