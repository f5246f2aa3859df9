/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: direct short-range forces on a group's targets (targets.h).
 *
 * reads  the near list, positions, tree and table of leaves of the targets; positions of the
 * neighbours;
 *        where particles differ their masses and types, and the index of the targets
 * writes the targets' accelerations, and their tides if these are wanted */
#include <math.h>
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/runtime/parts.h"
#include "photons/tree/codelets.h"

struct p2p_argument {
  struct short_range *s;
  const struct group *g;
  struct group_expansions *e;
};
enum { ACCELERATION, TREE, FIRST, POSITION, POSITIONS };
/* The positions of the n neighbours whose particles are on this rank are followed by their masses and types,
 * where these differ, the index of packed targets, and the list. */
static uint32_t masses_slot(uint32_t n) { return POSITIONS + n; }
static uint32_t types_slot(const struct short_range *s, uint32_t n) {
  return masses_slot(n) + (particles_have(&s->domain->particles, COLUMN_relative_mass) ? n : 0);
}
static uint32_t index_slot(const struct short_range *s, uint32_t n) {
  return types_slot(s, n) + (s->law.by_type ? n : 0);
}
static bool indexed(const struct short_range *s, const struct targets *t) {
  return t->packed &&
         (particles_have(&s->domain->particles, COLUMN_relative_mass) || s->law.by_type);
}
static uint32_t list_slot(const struct short_range *s, const struct targets *t, uint32_t n) {
  return index_slot(s, n) + indexed(s, t);
}

/* The pairs of the last step predict those of this step better than the list does, because the list
 * includes sources beyond r_cut. */
static double p2p_work(const struct p2p_argument *a) {
  const bool known = a->e->pairs && !a->e->targets.packed;
  return (double)(known ? a->e->pairs : a->e->lists.walked.pairs);
}

/** Tables of the neighbours. */
struct tables {
  const uint32_t **x;
  uint32_t *count;
  const float **mass;
  const uint8_t **type;
};

/** Fill in the tables. Far groups of other ranks have no particles here. */
static void fill_tables(void *buffers[], const struct p2p_argument *a, bool masses, bool types,
                        const struct tables *tables) {
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
static struct p2p_target unwrap(void *buffers[], const struct p2p_argument *a, bool on_gpu,
                                struct interaction_list *near, const struct tables *tables) {
  const struct domain *d = a->s->domain;
  const uint32_t n = near_with_particles(&a->g->near);
  const bool masses = particles_have(&d->particles, COLUMN_relative_mass),
             types = a->s->law.by_type;
  fill_tables(buffers, a, masses, types, tables);
  *near = list_unwrap(&a->e->lists, LIST_NEAR, a->e->targets.depth,
                      buffers + list_slot(a->s, &a->e->targets, n), on_gpu);
  struct p2p_target target = {.count = a->e->targets.count,
                              .depth = a->e->targets.depth,
                              .first = targets_first(&a->e->targets, buffers[FIRST]),
                              .source_depth = d->depth,
                              .scale = d->geometry.scale,
                              .factor = a->s->factor,
                              .x = VECTOR(const uint32_t, buffers[POSITION]),
                              .nodes = VECTOR(const struct node, buffers[TREE]),
                              .near = near,
                              .source_x = tables->x,
                              .source_count = tables->count,
                              .source_mass = masses ? tables->mass : NULL,
                              .source_type = types ? tables->type : NULL,
                              .tide = a->e->targets.tide};
  if (indexed(a->s, &a->e->targets))
    target.index = VECTOR(const uint32_t, buffers[index_slot(a->s, n)]);
  return target;
}

/** Pairs of a part of a task: 0.1 ms and more. */
#define PART_PAIRS 5e5

/** A task in parts: ranges of leaves. */
struct p2p_parts {
  struct short_range *s;
  const struct p2p_target *target;
  float *acceleration;
  uint32_t n;
  _Atomic uint64_t pairs;
};

static void p2p_part(void *context, uint32_t i) {
  struct p2p_parts *p = context;
  const uint64_t leaves = UINT64_C(1) << p->target->depth;
  struct p2p_target target = *p->target;
  target.leaf = (uint32_t)(leaves * i / p->n);
  target.leaf_end = (uint32_t)(leaves * (i + 1) / p->n);
  p->pairs += p->s->kernels->p2p.p2p(&p->s->law, &target, &tree_scratch(p->s)->p2p,
                                     p->acceleration);
}

static uint64_t p2p_in_parts(const struct p2p_argument *a, const struct p2p_target *target,
                             float *acceleration) {
  const double leaves = (double)(1u << target->depth);
  struct p2p_parts p = {
      .s = a->s,
      .target = target,
      .n = (uint32_t)fmin(leaves, 1.0 + (double)a->e->lists.walked.pairs / PART_PAIRS)};
  p.acceleration = acceleration;
  parts_run(p.n, p2p_part, &p);
  return p.pairs;
}

static void p2p_cpu(void *buffers[], const struct p2p_argument *a) {
  const struct p2p_law *law = &a->s->law;
  const uint32_t n = a->g->near.count, *x[n];
  uint32_t count[n];
  const float *mass[n];
  const uint8_t *type[n];
  struct interaction_list near;
  const struct p2p_target target = unwrap(buffers, a, false, &near,
                                          &(const struct tables){x, count, mass, type});
  float *acceleration = VECTOR(float, buffers[ACCELERATION]);
  a->e->pairs = law->kind == P2P_EXACT ? p2p_exact(law, &target, acceleration)
                                       : p2p_in_parts(a, &target, acceleration);
  if (DEBUG_CHECKS)
    for (size_t i = 0; i < (size_t)p2p_components(&target) * target.count; i++)
      DEBUG_CHECK(isfinite(acceleration[i]) || !isfinite(a->s->factor), /* motion_check.c tells */
                  "group %u: component %zu is %g", a->g->index, i, (double)acceleration[i]);
}

static void p2p_gpu(struct gpu *gpu, void *buffers[], const struct p2p_argument *a) {
  const struct p2p_law *law = &a->s->law;
  const uint32_t n = a->g->near.count, *x[n];
  uint32_t count[n];
  const float *mass[n];
  const uint8_t *type[n];
  struct interaction_list near;
  const struct p2p_target target = unwrap(buffers, a, true, &near,
                                          &(const struct tables){x, count, mass, type});
  gpu_p2p(gpu, a->s->gpu[worker_number()], law, &target, a->g->near.count, law->kind == P2P_EXACT,
          VECTOR(float, buffers[ACCELERATION]), &a->e->pairs);
}

STAGE(p2p, 0xcc6677, "p2p");

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

void p2p_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t n = near_with_particles(&g->near), list = list_slot(s, &e->targets, n);
  struct starpu_data_descr *data = allocate(list + LIST_SLOTS_MOST, sizeof *data, "task data");
  data[ACCELERATION] = (struct starpu_data_descr){e->targets.acceleration, STARPU_W};
  data[TREE] = (struct starpu_data_descr){e->targets.tree, STARPU_R};
  data[FIRST] = targets_slot(&e->targets);
  data[POSITION] = (struct starpu_data_descr){e->targets.position, STARPU_R};
  add_sources(s, &g->near, data);
  if (indexed(s, &e->targets))
    data[index_slot(s, n)] = (struct starpu_data_descr){e->targets.index, STARPU_R};
  const size_t count = list + list_slots(&e->lists, LIST_NEAR, data + list);
  p2p_insert((struct p2p_argument){s, g, e},
             (struct task){.data = data,
                           .count = count,
                           .priority = PRIORITY_LOW,
                           .lasting = 2 * e->targets.count > g->count,
                           .owner = &g->index,
                           .ended = s->keep_near ? NULL : list_ended,
                           .context = &e->lists.host[LIST_NEAR]});
  if (!s->keep_near) list_release(&e->lists, LIST_NEAR);
  free(data);
}
