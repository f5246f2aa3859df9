/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities of the particles of many halos by tasks. */
#include <string.h>

#include "halo_density.h"
#include "halo_pieces.h"
#include "photons/analysis/codelets.h"
#include "photons/domain/tree.h"

/** Trees whose densities tasks find. */
struct request {
  struct halo_tree *const *tree;
  struct densities *const *densities;
};

static struct part_tree size(const void *context, size_t i) {
  const struct halo_tree *t = ((const struct request *)context)->tree[i];
  return (struct part_tree){.count = t->count, .node = tree_nodes(t->depth), .depth = t->depth};
}

/** The tree loses what is packed. Node 0 is not used. */
static void pack(const void *context, size_t i, void *rows, void *nodes) {
  struct halo_tree *t = ((const struct request *)context)->tree[i];
  memcpy(rows, t->x, t->count * sizeof *t->x);
  memset(nodes, 0, sizeof *t->node);
  memcpy((struct density_box *)nodes + 1, t->node + 1,
         (tree_nodes(t->depth) - 1) * sizeof *t->node);
  halo_tree_free_nodes(t);
}

/** Bring the densities of a tree into the order of its bodies. */
static void unpack(const void *context, size_t i, const void *found, const void *found_too) {
  const struct request *r = context;
  const uint32_t *body = r->tree[i]->body, n = r->tree[i]->count;
  const double *density = found;
  const uint32_t(*neighbour)[HALO_LINKED] = found_too;
  const struct densities d = *r->densities[i] = densities_create(n);
  for (uint32_t k = 0; k < n; k++) {
    d.density[body[k]] = density[k];
    for (size_t j = 0; j < d.linked; j++)
      d.neighbour[body[k] * d.linked + j] = body[neighbour[k][j]];
  }
}

/** Tasks have whole leaves. */
static uint32_t cut(const struct part_tree *t, uint32_t task, uint32_t tasks) {
  const uint64_t leaves = (uint64_t)1 << t->depth;
  return level_first(t->count, t->depth, (uint32_t)(leaves * task / tasks));
}

static void submit(const void *context, const struct halo_part *part,
                   const struct piece_handles *h) {
  (void)context;
  halo_density_submit(part, h->tree, h->rows, h->nodes, h->found, h->found_too);
}

void densities_by_tasks(uint32_t task, size_t count, struct halo_tree *const *tree,
                        struct densities *const *densities) {
  static const struct piece_kind kind = {.row = sizeof(double[HALO_PHASE_AXES]),
                                         .node = sizeof(struct density_box),
                                         .found = sizeof(double),
                                         .found_too = sizeof(uint32_t[HALO_LINKED]),
                                         .aligned = 1,
                                         .size = size,
                                         .pack = pack,
                                         .unpack = unpack,
                                         .cut = cut,
                                         .submit = submit};
  pieces_run(&kind, &(struct request){tree, densities}, task, count);
}
