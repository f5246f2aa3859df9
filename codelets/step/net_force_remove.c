/* SPDX-License-Identifier: GPL-3.0-or-later */
/* net_force_remove: takes a group's part of the net force and the net torque of an isolated system from its
 * accelerations (net_force.h).
 *
 * reads   positions of the targets
 * updates their accelerations */
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"
#include "photons/step/net_force.h"

struct net_force_remove_argument {
  uint32_t count;
  double unit; /* of length, a position unit */
  struct net_force_change change;
};
enum { ACCELERATION, POSITION, SLOTS };

static double net_force_remove_work(const struct net_force_remove_argument *a) { return a->count; }

static struct net_force_arrays unwrap(void *buffers[], const struct net_force_remove_argument *a) {
  return (struct net_force_arrays){.count = a->count,
                                   .unit = a->unit,
                                   .position = VECTOR(const uint32_t, buffers[POSITION]),
                                   .acceleration = VECTOR(float, buffers[ACCELERATION])};
}

static void net_force_remove_cpu(void *buffers[], const struct net_force_remove_argument *a) {
  const struct net_force_arrays arrays = unwrap(buffers, a);
  for (size_t i = 0; i < arrays.count; i++) net_force_remove_from(&arrays, i, &a->change);
}

static void net_force_remove_gpu(struct gpu *gpu, void *buffers[],
                                 const struct net_force_remove_argument *a) {
  const struct net_force_arrays arrays = unwrap(buffers, a);
  gpu_net_force_remove(gpu, &arrays, &a->change);
}

STAGE(net_force_remove, 0xaabbdd, NULL);

void net_force_remove_submit(struct nbody *n, struct group *g,
                             const struct net_force_change *change) {
  const struct targets *t = &expansions_of(&n->short_range, g)->targets;
  const struct starpu_data_descr data[SLOTS] = {
      [ACCELERATION] = {t->acceleration, STARPU_RW}, [POSITION] = {t->position, STARPU_R}};
  net_force_remove_insert(
      (struct net_force_remove_argument){t->count, n->domain.geometry.box / POSITION_TURN, *change},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOW, .owner = &g->index});
}
