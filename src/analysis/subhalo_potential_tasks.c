/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of the particles of many candidates for subhalos by tasks. */
#include <stdlib.h>
#include <string.h>

#include "halo_pieces.h"
#include "halo_sources.h"
#include "photons/analysis/codelets.h"
#include "photons/base/error.h"
#include "photons/domain/tree.h"
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

static struct part_tree size(const void *context, size_t i) {
  const struct potentials_request *r = (const struct potentials_request *)context + i;
  struct part_tree t = {.count = r->potentials->count};
  if (t.count <= HALO_PAIRS) return t;
  t.depth = halo_sources_depth(t.count);
  t.node = tree_nodes(t.depth);
  return t;
}

/** Node 0 is not used. */
static void pack(const void *context, size_t i, void *rows, void *nodes) {
  const struct potentials_request *r = (const struct potentials_request *)context + i;
  const uint32_t count = r->potentials->count;
  struct halo_sources s = halo_sources_create(r->unbinding->body, count, r->potentials->number,
                                              count > HALO_PAIRS);
  memcpy(rows, s.x[0], 3 * (size_t)count * sizeof *s.x[0]);
  if (s.node) {
    memset(nodes, 0, sizeof *s.node);
    memcpy((struct part_node *)nodes + 1, s.node + 1, (tree_nodes(s.depth) - 1) * sizeof *s.node);
  }
  halo_sources_free(&s);
}

static void unpack(const void *context, size_t i, const void *found, const void *found_too) {
  const struct potentials_request *r = (const struct potentials_request *)context + i;
  const double self = potential_of_itself(r->unbinding), unit = potential_unit(r->unbinding),
               *sum = found;
  (void)found_too;
  for (uint32_t k = 0; k < r->potentials->count; k++)
    r->potentials->potential[k] = self - unit * sum[k];
}

static uint32_t cut(const struct part_tree *t, uint32_t task, uint32_t tasks) {
  return (uint32_t)((uint64_t)t->count * task / tasks) / HALO_POINTS * HALO_POINTS;
}

static void submit(const void *context, const struct halo_part *part,
                   const struct piece_handles *h) {
  const struct potentials_request *r = context;
  halo_potential_submit(part, (float)r->unbinding->softening, h->tree, h->rows, h->nodes, h->found);
}

void potentials_by_tasks(uint32_t task, size_t count, const struct potentials_request *request) {
  static const struct piece_kind kind = {.row = 3 * sizeof(float),
                                         .node = sizeof(struct part_node),
                                         .found = sizeof(double),
                                         .aligned = HALO_POINTS,
                                         .size = size,
                                         .pack = pack,
                                         .unpack = unpack,
                                         .cut = cut,
                                         .submit = submit};
  pieces_run(&kind, request, task, count);
}
