/* SPDX-License-Identifier: GPL-3.0-or-later */
/* potential: the short-range potential of a group's particles by direct sums over its near list.
 *
 * reads  the near list; tree and positions of the group; positions of the neighbours, and where
 *        particles differ their masses and types
 * writes the potential */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"
#include "photons/tree/codelets.h"

struct potential_argument {
  struct short_range *s;
  const struct group *g;
  struct group_expansions *e;
};
enum { POTENTIAL, TREE, POSITIONS };
/* The positions of the n neighbours whose particles are on this rank, of which the first is the group itself,
 * are followed by their masses and types, where these differ, and the list. */
static uint32_t masses_slot(uint32_t n) { return POSITIONS + n; }
static uint32_t types_slot(const struct short_range *s, uint32_t n) {
  return masses_slot(n) + (particles_have(&s->domain->particles, COLUMN_relative_mass) ? n : 0);
}
static uint32_t list_slot(const struct short_range *s, uint32_t n) {
  return types_slot(s, n) + (s->law.by_type ? n : 0);
}

static double potential_work(const struct potential_argument *a) {
  return (double)a->e->lists.walked.pairs;
}

/** Tables of the neighbours. */
struct tables {
  const uint32_t **x;
  uint32_t *count;
  const float **mass;
  const uint8_t **type;
};

/** Fill in the tables. Far groups of other ranks have no particles here. */
static void fill_tables(void *buffers[], const struct potential_argument *a, bool masses,
                        bool types, const struct tables *tables) {
  const struct neighbours *near = &a->g->near;
  const uint32_t n = near_with_particles(near);
  for (uint32_t i = 0, k = 0; i < near->count; i++) {
    tables->count[i] = near->group[i]->count;
    tables->x[i] = NULL, tables->mass[i] = NULL, tables->type[i] = NULL;
    if (!group_has_particles(near->group[i])) continue;
    tables->x[i] = VECTOR(const uint32_t, buffers[POSITIONS + k]);
    if (masses) tables->mass[i] = VECTOR(const float, buffers[masses_slot(n) + k]);
    if (types) tables->type[i] = VECTOR(const uint8_t, buffers[types_slot(a->s, n) + k]);
    k++;
  }
}

/** The task's target. Fills in the near list and the tables of sources. */
static struct p2p_target unwrap(void *buffers[], const struct potential_argument *a, bool on_gpu,
                                struct interaction_list *near, const struct tables *tables) {
  const struct domain *d = a->s->domain;
  const uint32_t n = near_with_particles(&a->g->near);
  const bool masses = particles_have(&d->particles, COLUMN_relative_mass),
             types = a->s->law.by_type;
  fill_tables(buffers, a, masses, types, tables);
  *near = list_unwrap(&a->e->lists, LIST_NEAR, d->depth, buffers + list_slot(a->s, n), on_gpu);
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
  const struct p2p_target target = unwrap(buffers, a, false, &near,
                                          &(const struct tables){x, count, mass, type});
  a->s->kernels->p2p.potential(&a->s->law, &target, &tree_scratch(a->s)->p2p,
                               VECTOR(float, buffers[POTENTIAL]));
}

static void potential_gpu(struct gpu *gpu, void *buffers[], const struct potential_argument *a) {
  const uint32_t n = a->g->near.count, *x[n];
  uint32_t count[n];
  const float *mass[n];
  const uint8_t *type[n];
  struct interaction_list near;
  const struct p2p_target target = unwrap(buffers, a, true, &near,
                                          &(const struct tables){x, count, mass, type});
  gpu_potential(gpu, &a->s->law, &target, n, VECTOR(float, buffers[POTENTIAL]));
}

STAGE(potential, 0xaa5544, NULL);

static void add_sources(const struct short_range *s, const struct neighbours *near,
                        struct starpu_data_descr *data) {
  const uint32_t n = near_with_particles(near);
  for (uint32_t i = 0, k = 0; i < near->count; i++) {
    if (!group_has_particles(near->group[i])) continue;
    const starpu_data_handle_t *column = near->group[i]->column;
    data[POSITIONS + k] = (struct starpu_data_descr){column[COLUMN_position], STARPU_R};
    if (particles_have(&s->domain->particles, COLUMN_relative_mass))
      data[masses_slot(n) + k] = (struct starpu_data_descr){column[COLUMN_relative_mass], STARPU_R};
    if (s->law.by_type)
      data[types_slot(s, n) + k] = (struct starpu_data_descr){column[COLUMN_type], STARPU_R};
    k++;
  }
}

void potential_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t n = near_with_particles(&g->near), list = list_slot(s, n);
  struct starpu_data_descr *data = allocate(list + LIST_SLOTS_MOST, sizeof *data, "task data");
  e->potential = handle_make(g->count, sizeof(float));
  data[POTENTIAL] = (struct starpu_data_descr){e->potential, STARPU_W};
  data[TREE] = (struct starpu_data_descr){g->tree, STARPU_R};
  add_sources(s, &g->near, data);
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
