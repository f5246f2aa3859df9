/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cone: the particles of a group that cross the light cone in a drift that comes next
 * (cone_cross.h), in double precision.
 *
 * reads  positions, momenta, ids
 * writes the group's list of crossings and the maps, which are in the memory of the host */
#include "codelets/runtime/task.h"
#include "photons/step/codelets.h"

struct cone_argument {
  struct light_cone *cone;
  struct cone_part *part;
  struct cone_drift drift;
  struct cone_bounds bounds;
  uint32_t count, centre[3];
  double way;
};
enum { POSITION, MOMENTUM, ID, SLOTS };

static double cone_work(const struct cone_argument *a) { return a->count; }

static void cone_cpu(void *buffers[], const struct cone_argument *a) {
  struct cone_particles p = {.count = a->count,
                             .position = VECTOR(const uint32_t, buffers[POSITION]),
                             .momentum = VECTOR(const float, buffers[MOMENTUM]),
                             .way = a->way};
  for (int c = 0; c < 3; c++) p.centre[c] = a->centre[c];
  light_cone_find(a->cone, a->part, &a->drift, &a->bounds, &p, VECTOR(const uint64_t, buffers[ID]));
}

STAGE_ON_CPU(cone, 0xeeddaa, NULL);

void cone_submit(struct nbody *n, struct group *g, const struct cone_drift *drift,
                 const struct cone_bounds *bounds, double way, struct cone_part *part) {
  const struct starpu_data_descr data[SLOTS] = {[POSITION] = {g->column[COLUMN_position], STARPU_R},
                                                [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R},
                                                [ID] = {g->column[COLUMN_id], STARPU_R}};
  struct cone_argument a = {n->cone, part, *drift, *bounds, g->count, {0}, way};
  for (int c = 0; c < 3; c++) a.centre[c] = g->root.centre[c];
  cone_insert(a,
              (struct task){
                  .data = data, .count = SLOTS, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
