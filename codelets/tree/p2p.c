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
#include "codelets/tree/sources.h"
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
enum { ACCELERATION, TREE, FIRST, POSITION, SOURCES };
/* The sources (sources.h) are followed by the index of packed targets, where particles differ, and the list. */
static uint32_t index_slot(const struct short_range *s, const struct neighbours *near) {
  return SOURCES + source_slots(s, near, false);
}
static bool indexed(const struct short_range *s, const struct targets *t) {
  return t->packed && (sources_have_masses(s) || s->law.by_type);
}
static uint32_t list_slot(const struct short_range *s, const struct targets *t,
                          const struct neighbours *near) {
  return index_slot(s, near) + indexed(s, t);
}

/* The pairs of the last step predict those of this step better than the list does, because the list
 * includes sources beyond r_cut. */
static double p2p_work(const struct p2p_argument *a) {
  const bool known = a->e->pairs && !a->e->targets.packed;
  return (double)(known ? a->e->pairs : a->e->lists.walked.pairs);
}

/** The task's target. Fills in the near list and the tables of sources. */
static struct p2p_target unwrap(void *buffers[], const struct p2p_argument *a, bool on_gpu,
                                struct interaction_list *near, const struct source_tables *tables) {
  const struct domain *d = a->s->domain;
  const struct neighbours *neighbours = &a->g->near;
  const bool masses = sources_have_masses(a->s), types = a->s->law.by_type;
  sources_read(buffers + SOURCES, a->s, neighbours, tables);
  *near = list_unwrap(&a->e->lists, LIST_NEAR, a->e->targets.depth,
                      buffers + list_slot(a->s, &a->e->targets, neighbours), on_gpu);
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
    target.index = VECTOR(const uint32_t, buffers[index_slot(a->s, neighbours)]);
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
  const struct p2p_target target = unwrap(
      buffers, a, false, &near, &(const struct source_tables){x, count, mass, type, NULL});
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
  const struct p2p_target target = unwrap(
      buffers, a, true, &near, &(const struct source_tables){x, count, mass, type, NULL});
  gpu_p2p(gpu, a->s->gpu[worker_number()], law, &target, a->g->near.count, law->kind == P2P_EXACT,
          VECTOR(float, buffers[ACCELERATION]), &a->e->pairs);
}

STAGE(p2p, 0xcc6677, "p2p");

void p2p_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t list = list_slot(s, &e->targets, &g->near);
  struct starpu_data_descr *data = allocate(list + LIST_SLOTS_MOST, sizeof *data, "task data");
  data[ACCELERATION] = (struct starpu_data_descr){e->targets.acceleration, STARPU_W};
  data[TREE] = (struct starpu_data_descr){e->targets.tree, STARPU_R};
  data[FIRST] = targets_slot(&e->targets);
  data[POSITION] = (struct starpu_data_descr){e->targets.position, STARPU_R};
  sources_add(s, &g->near, false, data + SOURCES);
  if (indexed(s, &e->targets))
    data[index_slot(s, &g->near)] = (struct starpu_data_descr){e->targets.index, STARPU_R};
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
