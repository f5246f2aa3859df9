/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "halo_density.h"

#include <stdlib.h>

#include "halo_near.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"

enum {
  SMOOTHED = HALO_NEAREST_MOST, /* neighbours that make a density */
  LEAVES = 64                   /* of a part of a loop */
};
_Static_assert((int)HALO_LINKED <= (int)SMOOTHED && (int)HALO_PHASE_AXES == (int)HALO_AXES &&
                   sizeof(struct density_box) == sizeof(struct halo_node),
               "what tasks know of trees is what trees have");

static struct halo_near near_of(const struct halo_tree *t) {
  return halo_near_create(t, t->count < SMOOTHED ? t->count : SMOOTHED);
}

/** Find the density of a particle of the leaf that the search is at.
 * @param[out] found  [SMOOTHED] its neighbours */
static double smooth(struct halo_near *near, uint32_t place, struct neighbour *found) {
  halo_near_find(near, place, found);
  return near->kernels->smoothed(near->most, found);
}

/** Trees whose densities are found. */
struct smoothing {
  const struct halo_tree *tree;
  struct densities densities;
};

static void smooth_leaf(const struct smoothing *s, struct halo_near *near, uint32_t leaf) {
  const struct densities *d = &s->densities;
  const uint32_t end = node_end(s->tree->count, leaf);
  struct neighbour found[SMOOTHED];
  halo_near_leaf(near, leaf);
  for (uint32_t i = node_first(s->tree->count, leaf); i < end; i++) {
    const uint32_t body = s->tree->body[i];
    d->density[body] = smooth(near, i, found);
    for (size_t k = 0; k < d->linked; k++)
      d->neighbour[body * d->linked + k] = s->tree->body[found[k].index];
  }
}

static void smooth_part(void *context, uint32_t part) {
  const struct smoothing *s = context;
  const uint32_t leaves = 1U << s->tree->depth, first = part * LEAVES,
                 end = first + LEAVES < leaves ? first + LEAVES : leaves;
  struct halo_near near = near_of(s->tree);
  for (uint32_t leaf = first; leaf < end; leaf++) smooth_leaf(s, &near, leaves + leaf);
  halo_near_free(&near);
}

struct densities densities_create(size_t n) {
  struct densities d = {.linked = n < HALO_LINKED ? n : HALO_LINKED};
  d.density = allocate(n, sizeof *d.density, "densities in a halo");
  d.neighbour = allocate(n * d.linked, sizeof *d.neighbour, "neighbours in a halo");
  return d;
}

struct densities densities_of(const struct halo_tree *t) {
  struct smoothing s = {t, densities_create(t->count)};
  halo_loop(((1U << t->depth) + LEAVES - 1) / LEAVES, smooth_part, &s);
  return s.densities;
}

void densities_free(struct densities *d) {
  free(d->density);
  free(d->neighbour);
  *d = (struct densities){0, NULL, NULL};
}

/** The tree of a task; free(single). */
static struct halo_tree tree_of(const struct density_part *p, const struct part_tree *of) {
  struct halo_tree t = {.count = of->count, .depth = of->depth, .axes = HALO_AXES};
  t.x = p->x + of->first;
  t.node = (void *)(p->box + of->node);
  t.single = allocate(HALO_AXES * ((size_t)t.count + HALO_SINGLE_PADDING), sizeof *t.single,
                      "the tree of a halo");
  for (int c = 0; c < HALO_AXES; c++) {
    float *const single = halo_tree_single(&t, c);
    for (uint32_t i = 0; i < t.count; i++) single[i] = (float)t.x[i][c];
  }
  return t;
}

/** Find the densities of a leaf. @param row  of its first particle, from the first one of the task */
static void find_leaf(const struct density_part *p, struct halo_near *near, uint32_t leaf,
                      uint32_t row) {
  const uint32_t first = node_first(near->tree->count, leaf),
                 end = node_end(near->tree->count, leaf),
                 linked = near->most < HALO_LINKED ? near->most : HALO_LINKED;
  struct neighbour found[SMOOTHED];
  halo_near_leaf(near, leaf);
  for (uint32_t i = first; i < end; i++, row++) {
    p->density[row] = smooth(near, i, found);
    for (uint32_t k = 0; k < linked; k++) p->neighbour[row][k] = found[k].index;
  }
}

/** Find the densities of those leaves of a tree that are among the task's rows. */
static void find_tree(const struct density_part *p, const struct part_tree *of) {
  const uint32_t leaves = 1U << of->depth, first = p->of.first, end = first + p->of.count;
  struct halo_tree tree = tree_of(p, of);
  struct halo_near near = near_of(&tree);
  for (uint32_t leaf = leaves; leaf < 2 * leaves; leaf++) {
    const uint32_t row = of->first + node_first(of->count, leaf);
    if (row >= first && row < end) find_leaf(p, &near, leaf, row - first);
  }
  halo_near_free(&near);
  free(tree.single);
}

void density_part_find(const struct density_part *p) {
  const uint32_t end = p->of.first + p->of.count;
  for (const struct part_tree *t = p->of.tree; t < p->of.tree + p->of.trees; t++)
    if (t->first < end && t->first + t->count > p->of.first) find_tree(p, t);
}
