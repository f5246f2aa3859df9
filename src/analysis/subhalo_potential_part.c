/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a task of potentials of candidates for subhalos does. */
#include <string.h>

#include "halo_part.h"
#include "halo_sources.h"
#include "subhalo.h"

_Static_assert((int)HALO_POTENTIALS == (int)HALO_POINTS && (int)HALO_ALL_PAIRS == (int)HALO_PAIRS &&
                   sizeof(struct part_node) == sizeof(struct source_node),
               "what tasks know of sources is what sources have");

/** Find the potentials of those rows of a tree that are among the task's, some points at a time. */
static void walk_for(const struct potential_part *p, const struct part_tree *t,
                     const struct halo_sources *s) {
  const uint32_t first = p->of.first, end = first + p->of.count;
  struct halo_points points = {.count = 0};
  for (uint32_t k = 0; k < t->count; k += HALO_POINTS) {
    if (t->first + k < first || t->first + k >= end) continue;
    points.count = t->count - k < HALO_POINTS ? (int)(t->count - k) : HALO_POINTS;
    for (int c = 0; c < 3; c++)
      memcpy(points.x[c], s->x[c] + k, (size_t)points.count * sizeof *s->x[c]);
    halo_kernels_select()->potentials(s, p->softening, &points);
    memcpy(p->sum + (t->first + k - first), points.sum, (size_t)points.count * sizeof *points.sum);
  }
}

static void find_tree(const struct potential_part *p, const struct part_tree *t) {
  float *const x = p->x + 3 * (size_t)t->first;
  struct halo_sources s = {
      t->count, t->depth, {x, x + t->count, x + 2 * (size_t)t->count}, (void *)(p->node + t->node)};
  if (t->count > HALO_PAIRS)
    walk_for(p, t, &s);
  else
    halo_kernels_select()->pairs(&s, p->softening, p->sum + (t->first - p->of.first));
}

void potential_part_find(const struct potential_part *p) {
  const uint32_t end = p->of.first + p->of.count;
  for (const struct part_tree *t = p->of.tree; t < p->of.tree + p->of.trees; t++)
    if (t->first < end && t->first + t->count > p->of.first) find_tree(p, t);
}
