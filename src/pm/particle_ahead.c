/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities of a level that is ahead of the finer ones: the particles of these are taken to move on.
 *
 * On cores each rank gets the finer levels' particles by the level's groups, and a loop adds what
 * changes. On GPUs the stage gas_ahead reads those of this rank where they are, and the host gets those
 * of other ranks alone. */
#include <stdlib.h>
#include <string.h>

#include "particle_migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/pm/codelets.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(gas_move_on, 0x998866, .family = "gas");

/** A level whose finer ones move on. */
struct moving {
  const struct gas *gas;
  int level;
  uint32_t first; /* own group */
  struct particle_level particles;
  double time;
};

static void move_group(void *context, uint32_t i) {
  const struct moving *m = context;
  const uint32_t group = m->first + i;
  const struct gas_batch *b = gas_batch_with(m->gas, m->level, group);
  struct gas_matter *matter = (struct gas_matter *)starpu_vector_get_local_ptr(b->matter);
  gas_particles_move_on(m->gas, m->level, group, &m->particles, m->time,
                        matter[group - b->first].fine);
}

/** A particle of a finer level belongs to the group of this level around it. */
static void plan_moving(const struct particle_migration *m, size_t i) {
  const struct gas *g = m->gas;
  struct home *home = &m->home[i];
  double position[3];
  home->group = topology_ancestor(&g->topology, home->level, home->group, m->first - 1);
  home->level = m->first - 1;
  if (comm_size() == 1) return;
  particle_move_on(m->particle[i], m->time, position);
  m->touched[i] = gas_particles_touched(g, home->level, home->group, m->particle[i]->position) |
                  gas_particles_touched(g, home->level, home->group, position);
}

/** The particles of the levels finer than this one, by its groups. */
static struct particle_level finer_particles(const struct gas *g, int level, double time) {
  struct particle_migration m = migration_begin(g, level + 1, topology_levels(&g->topology) - 1);
  m.time = time;
  migration_plan(&m, plan_moving);
  migration_run(&m);
  const struct particle_level finer = migration_arrive(&m, level);
  migration_end(&m);
  return finer;
}

static void deposit_on_cores(struct gas *g, int level, double time) {
  gas_particles_acquire(g, level + 1);
  struct moving m = {.gas = g,
                     .level = level,
                     .first = gas_first_group(g, level, comm_rank()),
                     .particles = finer_particles(g, level, time),
                     .time = time};
  gas_particles_release(g, level + 1);
  for (uint32_t i = gas_own_begin(g, level); i < gas_own_end(g, level); i++)
    handle_acquire(gas_batch(g, level, i)->matter, STARPU_RW);
  loop_run(&gas_move_on_stage, gas_first_group(g, level, comm_rank() + 1) - m.first, move_group,
           &m);
  for (uint32_t i = gas_own_begin(g, level); i < gas_own_end(g, level); i++)
    starpu_data_release(gas_batch(g, level, i)->matter);
  particle_level_free(&m.particles);
}

/** List this rank's particles of a finer level that touch other ranks' groups of a level, or will. */
static void list_finer(struct gas_leaving *s, const struct gas *g, int finer, int level,
                       double time) {
  *s = (struct gas_leaving){
      .gas = g, .from = &g->particles->level[finer], .level = level, .last = level, .time = time};
  const uint32_t first = s->from->own_first, own = s->from->own_end - first;
  s->now = allocate(own, sizeof *s->now, "particles of groups");
  for (uint32_t i = 0; i < own; i++)
    s->now[i] = topology_ancestor(&g->topology, finer, first + i, level);
  leaving_begin(s);
}

/** Add the listed particles of a level, for which there is room. */
static void add_listed(struct particle_migration *m, const struct gas_leaving *s, int finer) {
  for (uint32_t group = s->from->own_first; group < s->from->own_end; group++)
    for (uint32_t k = 0; k < s->leavers[group - s->from->own_first]; k++) {
      m->particle[m->count] = &leaving_of(s, group)[k].particle;
      m->home[m->count++] = (struct home){finer, group};
    }
}

/** The particles of finer levels of other ranks, by this level's groups. Collective. */
static struct particle_level foreign_particles(const struct gas *g, int level, double time) {
  struct gas_leaving list[GAS_LEVELS_MAX] = {0};
  const int end = topology_levels(&g->topology);
  struct particle_migration m = {.gas = g, .first = level + 1, .last = end - 1, .time = time};
  size_t count = 0;
  for (int l = level + 1; l < end; l++) list_finer(&list[l], g, l, level, time);
  for (int l = level + 1; l < end; l++) count += leaving_count(&list[l]);
  m.particle = allocate(count, sizeof *m.particle, "particles");
  m.home = allocate(count, sizeof *m.home, "particles");
  m.touched = allocate(count, sizeof *m.touched, "particles");
  for (int l = level + 1; l < end; l++) add_listed(&m, &list[l], l);
  migration_plan(&m, plan_moving);
  migration_run(&m);
  m.count -= m.kept;
  memmove(m.particle, m.particle + m.kept, m.count * sizeof *m.particle);
  memmove(m.home, m.home + m.kept, m.count * sizeof *m.home);
  struct particle_level foreign = migration_arrive(&m, level);
  migration_end(&m);
  for (int l = level + 1; l < end; l++) leaving_end(&list[l]);
  return foreign;
}

/** The densities of a level's own particles. @param then  on one rank with a GPU, a batch is ahead in the same task, for
 * this time */
static void deposit_level(struct gas *g, int level, const double *then) {
  for (uint32_t k = 0; k < g->level[level].own; k++) {
    const uint32_t i = g->level[level].turn[k];
    const bool begun = then && gas_chain_begin(g);
    gas_deposit_submit(g, level, i, true);
    if (then) gas_ahead_submit(g, level, i, *then, NULL);
    gas_chain_end(g, begun);
  }
  gas_ghosts_submit(g, level, GHOST_MATTER);
}

/** Of particles of other ranks as well. */
static void move_on_gpu(struct gas *g, int level, double time) {
  struct particle_level foreign = foreign_particles(g, level, time);
  const size_t count = foreign.first ? foreign.first[particle_listed(&foreign)] : 0;
  if (count > 0) {
    foreign.batches = 1;
    foreign.handle = allocate(1, sizeof(starpu_data_handle_t), "particles");
    foreign.handle[0] = handle_register_room(foreign.all, count, sizeof *foreign.all);
  }
  for (uint32_t k = 0; k < g->level[level].own; k++)
    gas_ahead_submit(g, level, g->level[level].turn[k], time, count > 0 ? &foreign : NULL);
  particle_level_free(&foreign); /* waits for its tasks */
}

void gas_particles_deposit_ahead(struct gas *g, int level, double time) {
  const bool gpu = engine_gpu(), alone = comm_size() == 1;
  deposit_level(g, level, gpu && alone ? &time : NULL);
  if (!gpu)
    deposit_on_cores(g, level, time);
  else if (!alone)
    move_on_gpu(g, level, time);
}
