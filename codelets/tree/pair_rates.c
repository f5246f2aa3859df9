/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pair_rates: of each target of a group the largest rate of a pair (pair_rates.h) over its near list, which p2p
 * has read before.
 *
 * reads   the near list; the targets' positions, index and table of leaves; positions and momenta of the
 *         neighbours, and where particles differ their masses and types
 * updates the targets' accelerations, which the rates follow */
#include <math.h>
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "codelets/tree/sources.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "photons/runtime/parts.h"
#include "photons/tree/codelets.h"
#include "photons/tree/pair_rates.h"

struct pair_rates_argument {
  struct short_range *s;
  const struct group *g;
  struct group_expansions *e;
  struct pair_law law;
};
enum { ACCELERATION, FIRST, POSITION, SOURCES };
/* The sources (sources.h) are followed by the index of packed targets and the list. */
static uint32_t index_slot(const struct short_range *s, const struct neighbours *near) {
  return SOURCES + source_slots(s, near, true);
}
static uint32_t list_slot(const struct short_range *s, const struct targets *t,
                          const struct neighbours *near) {
  return index_slot(s, near) + t->packed;
}

static double pair_rates_work(const struct pair_rates_argument *a) {
  return (double)a->e->lists.walked.pairs;
}

/** The task's target. Fills in the near list and the tables of sources. */
static struct pair_target unwrap(void *buffers[], const struct pair_rates_argument *a, bool on_gpu,
                                 struct interaction_list *near,
                                 const struct source_tables *tables) {
  const struct domain *d = a->s->domain;
  const struct targets *t = &a->e->targets;
  const struct neighbours *neighbours = &a->g->near;
  const bool masses = sources_have_masses(a->s), types = a->s->law.by_type;
  sources_read(buffers + SOURCES, a->s, neighbours, tables);
  *near = list_unwrap(&a->e->lists, LIST_NEAR, t->depth, buffers + list_slot(a->s, t, neighbours),
                      on_gpu);
  return (struct pair_target){
      .at = {.count = t->count,
             .depth = t->depth,
             .first = targets_first(t, buffers[FIRST]),
             .source_depth = d->depth,
             .scale = d->geometry.scale,
             .x = VECTOR(const uint32_t, buffers[POSITION]),
             .near = near,
             .source_x = tables->x,
             .source_count = tables->count,
             .source_mass = masses ? tables->mass : NULL,
             .source_type = types ? tables->type : NULL,
             .index = t->packed ? VECTOR(const uint32_t, buffers[index_slot(a->s, neighbours)])
                                : NULL,
             .leaf_end = 1u << t->depth},
      .source_p = tables->p};
}

/** The rates stand behind the three components of the accelerations. */
static float *rates_of(void *buffers[], const struct pair_rates_argument *a) {
  return VECTOR(float, buffers[ACCELERATION]) + 3 * (size_t)a->e->targets.count;
}

/** Pairs of a part of a task: 0.1 ms and more. */
#define PART_PAIRS 2e5

/** A task in parts: ranges of leaves. */
struct rate_parts {
  const struct pair_rates_argument *a;
  const struct pair_target *target;
  float *rate;
  uint32_t n;
};

static void rate_part(void *context, uint32_t i) {
  const struct rate_parts *p = context;
  const uint64_t leaves = p->target->at.leaf_end;
  struct pair_target target = *p->target;
  target.at.leaf = (uint32_t)(leaves * i / p->n);
  target.at.leaf_end = (uint32_t)(leaves * (i + 1) / p->n);
  p->a->s->kernels->p2p.pair_rates(&p->a->law, &p->a->s->law, &target, p->rate);
}

static void pair_rates_cpu(void *buffers[], const struct pair_rates_argument *a) {
  const uint32_t n = a->g->near.count, *x[n];
  uint32_t count[n];
  const float *p[n], *mass[n];
  const uint8_t *type[n];
  struct interaction_list near;
  const struct pair_target target = unwrap(buffers, a, false, &near,
                                           &(const struct source_tables){x, count, mass, type, p});
  const double parts = 1.0 + (double)a->e->lists.walked.pairs / PART_PAIRS;
  struct rate_parts context = {a, &target, rates_of(buffers, a),
                               (uint32_t)fmin((double)target.at.leaf_end, parts)};
  parts_run(context.n, rate_part, &context);
}

static void pair_rates_gpu(struct gpu *gpu, void *buffers[], const struct pair_rates_argument *a) {
  const uint32_t n = a->g->near.count, *x[n];
  uint32_t count[n];
  const float *p[n], *mass[n];
  const uint8_t *type[n];
  struct interaction_list near;
  const struct pair_target target = unwrap(buffers, a, true, &near,
                                           &(const struct source_tables){x, count, mass, type, p});
  gpu_pair_rates(gpu, &a->law, &a->s->law, &target, n, rates_of(buffers, a));
}

STAGE(pair_rates, 0xbb7799, NULL);

static struct pair_law law_of(const struct short_range *s) {
  const double r_cut = s->split.r_cut;
  const bool spline = s->law.softening_kind == SOFTENING_SPLINE;
  return (struct pair_law){.speed = (float)(1.0 / r_cut),
                           .mass = (float)((double)s->factor / r_cut),
                           .inverse_eta = 1.0f / s->eta_pair,
                           .soft = spline ? (float)(1.0 / (SPLINE_SUPPORT * SPLINE_SUPPORT))
                                          : 1.0f};
}

void pair_rates_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const uint32_t list = list_slot(s, &e->targets, &g->near);
  struct starpu_data_descr *data = allocate(list + LIST_SLOTS_MOST, sizeof *data, "task data");
  data[ACCELERATION] = (struct starpu_data_descr){e->targets.acceleration, STARPU_RW};
  data[FIRST] = targets_slot(&e->targets);
  data[POSITION] = (struct starpu_data_descr){e->targets.position, STARPU_R};
  sources_add(s, &g->near, true, data + SOURCES);
  if (e->targets.packed)
    data[index_slot(s, &g->near)] = (struct starpu_data_descr){e->targets.index, STARPU_R};
  const size_t count = list + list_slots(&e->lists, LIST_NEAR, data + list);
  pair_rates_insert((struct pair_rates_argument){s, g, e, law_of(s)},
                    (struct task){.data = data,
                                  .count = count,
                                  .priority = PRIORITY_LOW,
                                  .owner = &g->index,
                                  .ended = list_ended,
                                  .context = &e->lists.host[LIST_NEAR]});
  list_release(&e->lists, LIST_NEAR);
  free(data);
}
