/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cone: the particles of a group that cross the light cone in a drift that comes next
 * (cone_cross.h), in double precision.
 *
 * reads  positions, momenta, ids; masses and types if there are any
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
  bool masses, types;
};
/* Masses and types follow the fixed ones, in this order, those that there are. */
enum { POSITION, MOMENTUM, ID, DIFFERENT, SLOTS = DIFFERENT + 2 };

static double cone_work(const struct cone_argument *a) { return a->count; }

static void cone_cpu(void *buffers[], const struct cone_argument *a) {
  struct cone_particles p = {.count = a->count,
                             .position = VECTOR(const uint32_t, buffers[POSITION]),
                             .momentum = VECTOR(const float, buffers[MOMENTUM]),
                             .way = a->way,
                             .id = VECTOR(const uint64_t, buffers[ID])};
  size_t next = DIFFERENT;
  for (int c = 0; c < 3; c++) p.centre[c] = a->centre[c];
  if (a->masses) p.mass = VECTOR(const float, buffers[next++]);
  if (a->types) p.type = VECTOR(const uint8_t, buffers[next]);
  light_cone_find(a->cone, a->part, &a->drift, &a->bounds, &p);
}

STAGE_ON_CPU(cone, 0xeeddaa, NULL);

void cone_submit(struct nbody *n, struct group *g, const struct cone_drift *drift,
                 const struct cone_bounds *bounds, double way, struct cone_part *part) {
  struct starpu_data_descr data[SLOTS] = {[POSITION] = {g->column[COLUMN_position], STARPU_R},
                                          [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R},
                                          [ID] = {g->column[COLUMN_id], STARPU_R}};
  const struct particles *s = &n->domain.particles;
  struct cone_argument a = {.cone = n->cone,
                            .part = part,
                            .drift = *drift,
                            .bounds = *bounds,
                            .count = g->count,
                            .way = way,
                            .masses = particles_have(s, COLUMN_relative_mass),
                            .types = particles_have(s, COLUMN_type)};
  size_t count = DIFFERENT;
  if (a.masses)
    data[count++] = (struct starpu_data_descr){g->column[COLUMN_relative_mass], STARPU_R};
  if (a.types) data[count++] = (struct starpu_data_descr){g->column[COLUMN_type], STARPU_R};
  for (int c = 0; c < 3; c++) a.centre[c] = g->root.centre[c];
  cone_insert(a,
              (struct task){
                  .data = data, .count = count, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
