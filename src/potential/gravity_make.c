/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-gravity of a run, and whether one home finds all potentials. */
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/scheduler.h"

enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };

/** One of several homes finds all potentials where the root level has so many groups at most. Even and odd groups of a
 * level are solved in turn, in tens of microseconds: a message in between takes longer than the groups of the other homes. */
enum { ROOT_GROUPS_MOST = 8192 };

/** A task that finds all potentials has all data of all groups on its GPU at once: with more groups of a level
 * tasks of batches are long enough, and the GPUs' memory is divided. */
enum { GROUPS_TOGETHER_MOST = 16384 };

static bool finds_together(const struct gas *g, const struct self_gravity *s) {
  const uint32_t groups = g->topology.level[0].count;
  if (!s->gpus || !s->direct || comm_size() > 1) return false;
  return g->tasks.homes > 1 ? g->topology.finest > 0 && groups <= ROOT_GROUPS_MOST
                            : groups <= s->together_most;
}

struct self_gravity *gravity_make(struct gas *g, const struct parameters *p) {
  if (p->gas.gravity == GAS_GRAVITY_NONE) return NULL;
  struct self_gravity *s = allocate(1, sizeof *s, "self-gravity");
  uint32_t gpus = engine_gpu();
  comm_min_u32(&gpus, 1);
  int device[STARPU_NMAXWORKERS];
  const uint32_t here = scheduler_gpus(device);
  *s = (struct self_gravity){
      .gpu_memory = here > 0 ? scheduler_gpu_memory() / here : 0.0,
      .poisson = poisson_kernels_select(),
      .kernels = gravity_kernels_select(p->gas.precision == GAS_DOUBLE),
      .direct = p->gas.poisson == GAS_POISSON_DIRECT,
      .gpus = gpus != 0,
      .together_most = GROUPS_TOGETHER_MOST,
      .newton_constant = p->gas.comoving ? GRAVITY : p->gas.newton_constant,
      .tolerance = p->gas.sor_tolerance,
      .relaxations = (int)p->gas.sibling_relaxations,
      .corrections = (int)p->gas.sheet_corrections,
      .periodic = g->topology.boundary[0][0] == GAS_PERIODIC,
  };
  g->tasks.together = finds_together(g, s);
  s->root = root_poisson_make(g);
  s->order = handle_make_empty();
  owner_set(s->order, g->tasks.homes - 1, g->tasks.homes);
  poisson_waves_make(&s->waves);
  if (engine_gpu())
    s->pivots = handle_register(s->waves.pivot, GAS_GROUP_CELLS, sizeof *s->waves.pivot);
  return s;
}

/** Whether each level has few enough groups for one task, and one GPU room for all of them. */
static bool all_are_small(const struct gas *g) {
  double groups = 0.0;
  for (int level = 0; level <= g->topology.finest; level++) {
    if (g->topology.level[level].count > g->gravity->together_most) return false;
    groups += g->topology.level[level].count;
  }
  return groups * g->tasks.group_memory <= g->gravity->gpu_memory;
}

void gravity_divide_at_start(struct gas *g) {
  g->tasks.together = false;
  root_poisson_divide(g->gravity->root, g);
}

bool gravity_divide_potentials(struct gas *g) {
  if (!g->tasks.together || all_are_small(g)) return false;
  message_wait(); /* tasks look at gas_tasks.together */
  message_begin();
  gravity_divide_at_start(g);
  for (int level = 0; level <= g->topology.finest; level++) {
    struct gas_level *l = &g->level[level];
    for (uint32_t home = 0; home < l->homes; home++) handle_drop(&l->density[home]);
  }
  return true;
}

void gravity_free(struct self_gravity *s) {
  if (!s) return;
  root_poisson_free(s->root);
  handle_drop(&s->pivots);
  handle_drop(&s->order);
  free(s);
}

double gravity_bytes_per_group(const struct parameters *p) {
  const double real = p->gas.precision == GAS_DOUBLE ? sizeof(double) : sizeof(float);
  return p->gas.gravity == GAS_GRAVITY_NONE
             ? 0.0
             : (POTENTIALS + 1.0) * CUBE_BYTES + sizeof(struct poisson_share) +
                   sizeof(struct stress_sum) + GAS_MASS_FLUXES * real;
}
