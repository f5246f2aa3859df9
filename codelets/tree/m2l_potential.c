/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2l_potential: local expansions of a group's nodes from its far list, with L_0 (fmm.h), which
 * only potentials need.
 *
 * reads  the far list, the tree of the group; trees and multipoles of the neighbours
 * writes the local expansions and L_0 */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/tree/codelets.h"

struct m2l_potential_argument {
  const struct short_range *s;
  const struct group *g;
  const struct lists *lists;
};
enum { LOCAL, CONSTANT, TREES };
/* The trees of n neighbours, of which the first is the group itself, are followed by their
 * multipoles and then by the list. */
static uint32_t multipoles_slot(uint32_t n) { return TREES + n; }
static uint32_t list_slot(uint32_t n) { return TREES + 2 * n; }

static double m2l_potential_work(const struct m2l_potential_argument *a) {
  return (double)(a->lists->walked.interactions + tree_nodes(a->s->domain->depth));
}

/** Fills in the tables of neighbours and returns the far list. */
static struct interaction_list unwrap(void *buffers[], const struct m2l_potential_argument *a,
                                      bool on_gpu, const struct node **trees,
                                      const float **multipoles) {
  const uint32_t n = a->g->near.count;
  for (uint32_t i = 0; i < n; i++) {
    trees[i] = VECTOR(const struct node, buffers[TREES + i]);
    multipoles[i] = VECTOR(const float, buffers[multipoles_slot(n) + i]);
  }
  return list_unwrap(a->lists, LIST_FAR, a->s->domain->depth, buffers + list_slot(n), on_gpu);
}

static void m2l_potential_cpu(void *buffers[], const struct m2l_potential_argument *a) {
  const struct domain *d = a->s->domain;
  const struct fmm_operators *fmm = &a->s->kernels->fmm;
  const int order = a->s->order;
  const float scale = expansion_scale(a->s);
  const uint32_t n = a->g->near.count;
  const struct node *trees[n];
  const float *multipoles[n];
  const struct interaction_list far = unwrap(buffers, a, false, trees, multipoles);
  fmm->m2l(order, d->depth, d->depth, scale, &a->s->split, &far, trees[0], trees, multipoles,
           VECTOR(float, buffers[LOCAL]));
  fmm->m2l_potential(order, d->depth, d->depth, scale, &a->s->split, &far, trees[0], trees,
                     multipoles, VECTOR(float, buffers[CONSTANT]));
}

static void m2l_potential_gpu(struct gpu *gpu, void *buffers[],
                              const struct m2l_potential_argument *a) {
  const struct domain *d = a->s->domain;
  const uint32_t n = a->g->near.count;
  const struct node *trees[n];
  const float *multipoles[n];
  const struct interaction_list far = unwrap(buffers, a, true, trees, multipoles);
  gpu_m2l(gpu, a->s->order, d->depth, d->depth, expansion_scale(a->s), &a->s->split, &far, trees[0],
          n, trees, multipoles, VECTOR(float, buffers[LOCAL]), VECTOR(float, buffers[CONSTANT]));
}

STAGE(m2l_potential, 0x339955, NULL);

void m2l_potential_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t n = g->near.count;
  struct starpu_data_descr *data = allocate(list_slot(n) + LIST_SLOTS_MOST, sizeof *data,
                                            "task data");
  e->constant = handle_make(tree_nodes(s->domain->depth), sizeof(float));
  data[LOCAL] = (struct starpu_data_descr){e->local, STARPU_W};
  data[CONSTANT] = (struct starpu_data_descr){e->constant, STARPU_W};
  for (uint32_t i = 0; i < n; i++) {
    const struct group *neighbour = g->near.group[i];
    data[TREES + i] = (struct starpu_data_descr){neighbour->tree, STARPU_R};
    data[multipoles_slot(n) + i] = (struct starpu_data_descr){multipole_of(s, neighbour), STARPU_R};
  }
  const size_t count = list_slot(n) + list_slots(&e->lists, LIST_FAR, data + list_slot(n));
  m2l_potential_insert((struct m2l_potential_argument){s, g, &e->lists},
                       (struct task){.data = data,
                                     .count = count,
                                     .priority = PRIORITY_LOW,
                                     .owner = &g->index,
                                     .ended = list_ended,
                                     .context = &e->lists.host[LIST_FAR]});
  list_release(&e->lists, LIST_FAR);
  free(data);
}
