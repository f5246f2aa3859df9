/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of the particles of many candidates for subhalos by tasks. */
#include <string.h>

#include "halo_pieces.h"
#include "halo_sources.h"
#include "photons/analysis/codelets.h"
#include "photons/domain/tree.h"
#include "subhalo.h"

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
