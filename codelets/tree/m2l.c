/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2l: local expansions of a group's targets from their far list. Does nothing if the list is
 * empty; then no stage reads the local expansions.
 *
 * reads  the far list, the tree of the targets; trees and multipoles of the neighbours
 * writes the local expansions */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "photons/tree/codelets.h"

struct m2l_argument {
  const struct short_range *s;
  const struct group *g;
  const struct lists *lists;
  unsigned depth;
};
enum { LOCAL, TREE, TREES }; /* TREE: of the targets */
/* The trees of n neighbours are followed by their multipoles and then by the list. */
static uint32_t multipoles_slot(uint32_t n) { return TREES + n; }
static uint32_t list_slot(uint32_t n) { return TREES + 2 * n; }

static double m2l_work(const struct m2l_argument *a) {
  const uint64_t n = a->lists->walked.interactions;
  return n ? (double)(n + tree_nodes(a->depth)) : 1;
}

static void unwrap(void *buffers[], uint32_t n, const struct node **trees,
                   const float **multipoles) {
  for (uint32_t i = 0; i < n; i++) {
    trees[i] = VECTOR(const struct node, buffers[TREES + i]);
    multipoles[i] = VECTOR(const float, buffers[multipoles_slot(n) + i]);
  }
}

static void m2l_cpu(void *buffers[], const struct m2l_argument *a) {
  if (a->lists->walked.interactions == 0) return;
  const struct domain *d = a->s->domain;
  const uint32_t n = a->g->near.count;
  const struct node *trees[n];
  const float *multipoles[n];
  unwrap(buffers, n, trees, multipoles);
  const struct interaction_list far = list_unwrap(a->lists, LIST_FAR, a->depth,
                                                  buffers + list_slot(n), false);
  a->s->kernels->fmm.m2l(a->s->order, a->depth, d->depth, expansion_scale(a->s), &a->s->split, &far,
                         VECTOR(const struct node, buffers[TREE]), trees, multipoles,
                         VECTOR(float, buffers[LOCAL]));
}

static void m2l_gpu(struct gpu *gpu, void *buffers[], const struct m2l_argument *a) {
  if (a->lists->walked.interactions == 0) return;
  const struct domain *d = a->s->domain;
  const uint32_t n = a->g->near.count;
  const struct node *trees[n];
  const float *multipoles[n];
  unwrap(buffers, n, trees, multipoles);
  const struct interaction_list far = list_unwrap(a->lists, LIST_FAR, a->depth,
                                                  buffers + list_slot(n), true);
  gpu_m2l(gpu, a->s->order, a->depth, d->depth, expansion_scale(a->s), &a->s->split, &far,
          VECTOR(const struct node, buffers[TREE]), n, trees, multipoles,
          VECTOR(float, buffers[LOCAL]), NULL);
}

STAGE(m2l, 0x117733, "m2l");

void m2l_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t n = g->near.count;
  struct starpu_data_descr *data = allocate(list_slot(n) + LIST_SLOTS_MOST, sizeof *data,
                                            "task data");
  data[LOCAL] = (struct starpu_data_descr){e->local, STARPU_W};
  data[TREE] = (struct starpu_data_descr){e->targets.tree, STARPU_R};
  for (uint32_t i = 0; i < n; i++) {
    const struct group *neighbour = g->near.group[i];
    data[TREES + i] = (struct starpu_data_descr){neighbour->tree, STARPU_R};
    data[multipoles_slot(n) + i] = (struct starpu_data_descr){multipole_of(s, neighbour), STARPU_R};
  }
  const size_t count = list_slot(n) + list_slots(&e->lists, LIST_FAR, data + list_slot(n));
  m2l_insert((struct m2l_argument){s, g, &e->lists, e->targets.depth},
             (struct task){.data = data,
                           .count = count,
                           .priority = PRIORITY_LOW,
                           .owner = &g->index,
                           .ended = list_ended,
                           .context = &e->lists.host[LIST_FAR]});
  list_release(&e->lists, LIST_FAR);
  free(data);
}
