/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holes_find: the black holes of a group (pair_steps.h), in any order.
 *
 * reads  positions, momenta, types, rungs; masses, if they differ
 * writes the black holes of the group */
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/config/parameters.h"
#include "photons/step/codelets.h"
#include "photons/step/holes.h"

struct holes_find_argument {
  uint32_t count;
  uint8_t wanted; /* type */
  bool masses;    /* they differ */
};
enum { FOUND, POSITION, MOMENTUM, TYPE, RUNG, MASS, SLOTS };

static double holes_find_work(const struct holes_find_argument *a) { return a->count; }

static struct hole_arrays unwrap(void *buffers[], const struct holes_find_argument *a) {
  return (struct hole_arrays){.count = a->count,
                              .position = VECTOR(const uint32_t, buffers[POSITION]),
                              .momentum = VECTOR(const float, buffers[MOMENTUM]),
                              .mass = a->masses ? VECTOR(const float, buffers[MASS]) : NULL,
                              .type = VECTOR(const uint8_t, buffers[TYPE]),
                              .rung = VECTOR(const uint8_t, buffers[RUNG]),
                              .wanted = a->wanted};
}

static void holes_find_cpu(void *buffers[], const struct holes_find_argument *a) {
  const struct hole_arrays arrays = unwrap(buffers, a);
  struct holes *found = VECTOR(struct holes, buffers[FOUND]);
  const uint8_t *next = arrays.type, *end = next + a->count;
  found->count = found->rung = 0;
  while ((next = memchr(next, a->wanted, (size_t)(end - next))) && found->count < HOLES_MOST)
    found->hole[found->count++] = hole_of(&arrays, (uint32_t)(next++ - arrays.type));
}

static void holes_find_gpu(struct gpu *gpu, void *buffers[], const struct holes_find_argument *a) {
  const struct hole_arrays arrays = unwrap(buffers, a);
  gpu_holes_find(gpu, &arrays, VECTOR(struct holes, buffers[FOUND]));
}

STAGE(holes_find, 0xddbb88, NULL);

void holes_find_submit(struct nbody *n, struct group *g) {
  const struct holes_find_argument argument = {
      .count = g->count,
      .wanted = (uint8_t)n->parameters->time.pair_type,
      .masses = particles_have(&n->domain.particles, COLUMN_relative_mass)};
  const struct starpu_data_descr data[SLOTS] = {
      [FOUND] = {n->holes->found[group_place(&n->domain, g)], STARPU_W},
      [POSITION] = {g->column[COLUMN_position], STARPU_R},
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R},
      [TYPE] = {g->column[COLUMN_type], STARPU_R},
      [RUNG] = {g->column[COLUMN_rung], STARPU_R},
      [MASS] = {g->column[COLUMN_relative_mass], STARPU_R}};
  holes_find_insert(argument, (struct task){.data = data,
                                            .count = argument.masses ? SLOTS : MASS,
                                            .priority = PRIORITY_LOW,
                                            .owner = &g->index});
}
