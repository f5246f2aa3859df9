/* SPDX-License-Identifier: GPL-3.0-or-later */
/* potential: the short-range potential of a group's particles by direct sums over its near list.
 *
 * reads  the near list; tree and positions of the group; positions of the neighbours, and where
 *        particles differ their masses and types
 * writes the potential */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "codelets/tree/sources.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/tree/codelets.h"

struct potential_argument {
  struct short_range *s;
  const struct group *g;
  struct group_expansions *e;
};
enum { POTENTIAL, TREE, SOURCES };
/* The sources (sources.h), of which the first are the group's own, are followed by the list. */
static uint32_t list_slot(const struct short_range *s, const struct neighbours *near) {
  return SOURCES + source_slots(s, near, false);
}

static double potential_work(const struct potential_argument *a) {
  return (double)a->e->lists.walked.pairs;
}

/** The task's target. Fills in the near list and the tables of sources. */
static struct p2p_target unwrap(void *buffers[], const struct potential_argument *a, bool on_gpu,
                                struct interaction_list *near, const struct source_tables *tables) {
  const struct domain *d = a->s->domain;
  const struct neighbours *neighbours = &a->g->near;
  const bool masses = sources_have_masses(a->s), types = a->s->law.by_type;
  sources_read(buffers + SOURCES, a->s, neighbours, tables);
  *near = list_unwrap(&a->e->lists, LIST_NEAR, d->depth, buffers + list_slot(a->s, neighbours),
                      on_gpu);
  return (struct p2p_target){.count = a->g->count,
                             .depth = d->depth,
                             .source_depth = d->depth,
                             .scale = d->geometry.scale,
                             .x = tables->x[0],
                             .nodes = VECTOR(const struct node, buffers[TREE]),
                             .near = near,
                             .source_x = tables->x,
                             .source_count = tables->count,
                             .source_mass = masses ? tables->mass : NULL,
                             .source_type = types ? tables->type : NULL};
}

static void potential_cpu(void *buffers[], const struct potential_argument *a) {
  const uint32_t n = a->g->near.count, *x[n];
  uint32_t count[n];
  const float *mass[n];
  const uint8_t *type[n];
  struct interaction_list near;
  const struct p2p_target target = unwrap(
      buffers, a, false, &near, &(const struct source_tables){x, count, mass, type, NULL});
  a->s->kernels->p2p.potential(&a->s->law, &target, &tree_scratch(a->s)->p2p,
                               VECTOR(float, buffers[POTENTIAL]));
}

static void potential_gpu(struct gpu *gpu, void *buffers[], const struct potential_argument *a) {
  const uint32_t n = a->g->near.count, *x[n];
  uint32_t count[n];
  const float *mass[n];
  const uint8_t *type[n];
  struct interaction_list near;
  const struct p2p_target target = unwrap(
      buffers, a, true, &near, &(const struct source_tables){x, count, mass, type, NULL});
  gpu_potential(gpu, &a->s->law, &target, n, VECTOR(float, buffers[POTENTIAL]));
}

STAGE(potential, 0xaa5544, NULL);

void potential_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t list = list_slot(s, &g->near);
  struct starpu_data_descr *data = allocate(list + LIST_SLOTS_MOST, sizeof *data, "task data");
  e->potential = handle_make(g->count, sizeof(float));
  data[POTENTIAL] = (struct starpu_data_descr){e->potential, STARPU_W};
  data[TREE] = (struct starpu_data_descr){g->tree, STARPU_R};
  sources_add(s, &g->near, false, data + SOURCES);
  const size_t count = list + list_slots(&e->lists, LIST_NEAR, data + list);
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
