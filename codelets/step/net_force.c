/* SPDX-License-Identifier: GPL-3.0-or-later */
/* net_force: sums over the accelerations of a group of an isolated system (net_force.h), in double precision;
 * on a core one particle after the other.
 *
 * reads  accelerations and positions of the targets; masses, if they differ
 * writes the memory of the host that the argument names */
#include "photons/step/net_force.h"
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct net_force_argument {
  uint32_t count;
  bool masses; /* they differ */
  double unit; /* of length, a position unit */
  struct net_force_sums *sums;
};
enum { ACCELERATION, POSITION, MASS, SLOTS };

static double net_force_work(const struct net_force_argument *a) { return a->count; }

static struct net_force_arrays unwrap(void *buffers[], const struct net_force_argument *a) {
  return (struct net_force_arrays){.count = a->count,
                                   .unit = a->unit,
                                   .position = VECTOR(const uint32_t, buffers[POSITION]),
                                   .mass = a->masses ? VECTOR(const float, buffers[MASS]) : NULL,
                                   .acceleration = VECTOR(float, buffers[ACCELERATION])};
}

static void net_force_cpu(void *buffers[], const struct net_force_argument *a) {
  const struct net_force_arrays arrays = unwrap(buffers, a);
  *a->sums = (struct net_force_sums){0};
  for (size_t i = 0; i < arrays.count; i++) net_force_add(&arrays, i, a->sums);
}

static void net_force_gpu(struct gpu *gpu, void *buffers[], const struct net_force_argument *a) {
  const struct net_force_arrays arrays = unwrap(buffers, a);
  gpu_net_force(gpu, &arrays, a->sums);
}

STAGE(net_force, 0xbbccdd, NULL);

void net_force_submit(struct nbody *n, struct group *g, struct net_force_sums *sums) {
  const struct targets *t = &expansions_of(&n->short_range, g)->targets;
  const bool masses = particles_have(&n->domain.particles, COLUMN_relative_mass);
  const struct starpu_data_descr data[SLOTS] = {
      [ACCELERATION] = {t->acceleration, STARPU_R},
      [POSITION] = {t->position, STARPU_R},
      [MASS] = {g->column[COLUMN_relative_mass], STARPU_R}};
  net_force_insert(
      (struct net_force_argument){t->count, masses, n->domain.geometry.box / POSITION_TURN, sums},
      (struct task){.data = data,
                    .count = masses ? SLOTS : MASS,
                    .priority = PRIORITY_LOW,
                    .owner = &g->index});
}
