/* SPDX-License-Identifier: GPL-3.0-or-later */
/* potential: the short-range potential of a group's particles by direct sums over its near list. There
 * is no CUDA version, because energies are seldom computed.
 *
 * reads  the near list; tree and positions of the group; positions of the neighbours
 * writes the potential */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/tree/codelets.h"

struct potential_argument {
  struct short_range *s;
  const struct group *g;
  struct group_expansions *e;
};
enum { POTENTIAL, TREE, POSITIONS };
/* The positions of n neighbours, of which the first is the group itself, are followed by the list. */
static uint32_t list_slot(uint32_t n) { return POSITIONS + n; }

static double potential_work(const struct potential_argument *a) {
  return (double)a->e->lists.walked.pairs;
}

static void potential_cpu(void *buffers[], const struct potential_argument *a) {
  const struct domain *d = a->s->domain;
  const uint32_t n = a->g->near.count;
  const uint32_t *x[n];
  uint32_t count[n];
  for (uint32_t i = 0; i < n; i++) {
    x[i] = VECTOR(const uint32_t, buffers[POSITIONS + i]);
    count[i] = d->groups[a->g->near.group[i]].count;
  }
  const struct interaction_list near = list_unwrap(&a->e->lists, LIST_NEAR, d->depth,
                                                   buffers + list_slot(n), false);
  const struct p2p_target target = {.count = a->g->count,
                                    .depth = d->depth,
                                    .source_depth = d->depth,
                                    .scale = d->geometry.scale,
                                    .x = x[0],
                                    .nodes = VECTOR(const struct node, buffers[TREE]),
                                    .near = &near,
                                    .source_x = x,
                                    .source_count = count};
  a->s->kernels->p2p.potential(&a->s->law, &target, &tree_scratch(a->s)->p2p,
                               VECTOR(float, buffers[POTENTIAL]));
}

STAGE_ON_CPU(potential, 0xaa5544, NULL);

void potential_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t n = g->near.count;
  struct starpu_data_descr *data = allocate(list_slot(n) + LIST_SLOTS_MOST, sizeof *data,
                                            "task data");
  e->potential = handle_make(g->count, sizeof(float));
  data[POTENTIAL] = (struct starpu_data_descr){e->potential, STARPU_W};
  data[TREE] = (struct starpu_data_descr){g->tree, STARPU_R};
  for (uint32_t i = 0; i < n; i++)
    data[POSITIONS + i] = (struct starpu_data_descr){
        s->domain->groups[g->near.group[i]].column[COLUMN_position], STARPU_R};
  const size_t count = list_slot(n) + list_slots(&e->lists, LIST_NEAR, data + list_slot(n));
  potential_insert((struct potential_argument){s, g, e},
                   (struct task){.data = data,
                                 .count = count,
                                 .priority = PRIORITY_LOW,
                                 .owner = &g->index,
                                 .ended = list_ended,
                                 .context = &e->lists.host[LIST_NEAR]});
  list_release(&e->lists, LIST_NEAR);
  free(data);
}
