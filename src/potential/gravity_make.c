/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-gravity of a run, and whether each home finds the potentials of all groups. */
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"

enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };

/** Homes find the potentials of all groups where the root level has so many at most. Even and odd groups of a level are
 * solved in turn, in tens of microseconds: a message in between takes longer than the groups of the other homes. */
enum { ROOT_GROUPS_MOST = 8192 };

/** A task of a level has all data of its groups on its GPU at once, and the sources of all of them: with more groups
 * tasks of batches are long enough, and the GPUs' memory is divided. */
enum { GROUPS_TOGETHER_MOST = 16384 };

static bool finds_all_potentials(const struct gas *g, const struct self_gravity *s) {
  return s->gpus && s->direct && comm_size() == 1 && g->tasks.homes > 1 && g->topology.finest > 0 &&
         g->topology.level[0].count <= ROOT_GROUPS_MOST;
}

struct self_gravity *gravity_make(struct gas *g, const struct parameters *p) {
  if (p->gas.gravity == GAS_GRAVITY_NONE) return NULL;
  struct self_gravity *s = allocate(1, sizeof *s, "self-gravity");
  uint32_t gpus = engine_gpu();
  comm_min_u32(&gpus, 1);
  *s = (struct self_gravity){
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
      .root = root_poisson_make(g),
  };
  g->tasks.all_potentials = finds_all_potentials(g, s);
  poisson_waves_make(&s->waves);
  if (engine_gpu())
    s->pivots = handle_register(s->waves.pivot, GAS_GROUP_CELLS, sizeof *s->waves.pivot);
  return s;
}

/** Whether each level has few enough groups for one task. */
static bool all_are_small(const struct gas *g) {
  for (int level = 0; level <= g->topology.finest; level++)
    if (g->topology.level[level].count > g->gravity->together_most) return false;
  return true;
}

bool gravity_divide_potentials(struct gas *g) {
  if (!g->tasks.all_potentials || all_are_small(g)) return false;
  message_wait(); /* tasks look at gas_tasks.all_potentials */
  message_begin();
  g->tasks.all_potentials = false;
  for (int level = 0; level <= g->topology.finest; level++) {
    struct gas_level *l = &g->level[level];
    for (uint32_t home = 0; home < l->homes; home++) handle_drop(&l->source[home]);
    l->sources = SOURCES_OLD;
  }
  return true;
}

void gravity_free(struct self_gravity *s) {
  if (!s) return;
  root_poisson_free(s->root);
  handle_drop(&s->pivots);
  free(s);
}

double gravity_bytes_per_group(const struct parameters *p) {
  const double real = p->gas.precision == GAS_DOUBLE ? sizeof(double) : sizeof(float);
  return p->gas.gravity == GAS_GRAVITY_NONE
             ? 0.0
             : (POTENTIALS + 1.0) * CUBE_BYTES + sizeof(struct poisson_share) +
                   sizeof(struct stress_sum) + GAS_MASS_FLUXES * real;
}
