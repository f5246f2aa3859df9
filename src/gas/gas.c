/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gas of a run: made from parameters, and given to the host. */
#include "photons/gas/create.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/amr/migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/comoving.h"
#include "photons/gas/packages.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/scheduler.h"

enum {
  BATCH_GROUPS = 4,          /* on cores: some milliseconds of work */
  BLOCKS_FOR_EACH_WORKER = 2 /* one that is solved, one that is prepared */
};

double gas_length(const struct parameters *p) {
  return p->gas.comoving ? p->box.size : p->gas.length;
}

double gas_least_heat(const struct gas *g, double scale) {
  return comoving_heat(scale, g->universe.temperature_floor, g->universe.molecular_weight);
}

/** The value of a list for a level: lists have one value for all levels, or one for each. */
static double by_level(const double *list, size_t count, int level) {
  return count == 0 ? 0.0 : list[count == 1 ? 0 : level];
}

/** Thresholds of particles are for a mass of 1: that of a particle is not known yet. */
static void set_flags(struct gas *g, const struct parameters *p) {
  const double unit = g->universe.comoving ? comoving_mean_density(&g->universe.cosmology) : 1.0;
  for (int level = 0; level < g->topology.finest; level++)
    g->refinement.flags[level] = (struct gas_flags){
        .density = unit * by_level(p->gas.flag_density, p->gas.flag_density_count, level),
        .particles = by_level(p->gas.flag_particles, p->gas.flag_particles_count, level) /
                     pow(gas_cell(g, level), 3.0),
        .gradient_density = by_level(p->gas.flag_gradient_density,
                                     p->gas.flag_gradient_density_count, level),
        .gradient_pressure = by_level(p->gas.flag_gradient_pressure,
                                      p->gas.flag_gradient_pressure_count, level),
        .loehner = by_level(p->gas.flag_loehner, p->gas.flag_loehner_count, level),
        .loehner_filter = 0.01};
}

/** With GPUs each level has batches of its own. */
static uint32_t default_batch(void) { return scheduler_any_gpu() ? 0 : BATCH_GROUPS; }

/** A home for each GPU of a rank, where tasks run on the GPU that owns their data. Ranks with more GPUs
 * than others have more GPUs for each home. */
static uint32_t default_homes(void) {
  uint32_t homes = owner_count();
  comm_min_u32(&homes, 1);
  return homes > 0 ? homes : 1;
}

struct gas *gas_create(const struct parameters *p) {
  struct gas *g = allocate(1, sizeof *g, "the gas");
  uint32_t root[3];
  for (int c = 0; c < 3; c++) root[c] = (uint32_t)p->gas.root[c] / GAS_GROUP_SIDE;
  g->scheme.kernels = gas_kernels_select(p->gas.precision == GAS_DOUBLE);
  g->scheme.physics = gas_physics_of(p);
  g->scheme.particles_alone = p->gas.solver == GAS_NONE;
  g->universe.comoving = p->gas.comoving;
  g->universe.molecular_weight = p->gas.molecular_weight;
  g->universe.temperature_floor = p->gas.temperature_floor;
  g->universe.cosmology = cosmology_from(p);
  g->universe.share = g->universe.comoving ? comoving_gas_share(p) : 1.0;
  g->time = g->universe.comoving ? 1.0 / (1.0 + p->ic.z_init) : 0.0;
  g->universe.scale = g->universe.comoving ? g->time : 1.0;
  g->scheme.variables = gas_variables(&g->scheme.physics);
  g->tasks.group_memory = gas_bytes_per_group(p);
  g->tasks.homes = p->gas.homes > 0 ? (uint32_t)p->gas.homes : default_homes();
  g->tasks.batch = p->gas.batch > 0 ? (uint32_t)p->gas.batch : default_batch();
  g->tasks.few = p->gas.gravity != GAS_GRAVITY_NONE && p->gas.levels > 0;
  topology_init_divided(&g->topology, root, p->gas.boundary, (int)p->gas.levels, gas_share, g);
  g->gravity = gravity_make(g, p);
  if (g->tasks.together && gas_gpus_needed(p) > 1.0) gravity_divide_at_start(g);
  g->particles = gas_particles_make(p);
  g->refinement.lightest = INFINITY;
  g->refinement.buffer = (int)p->gas.buffer;
  g->refinement.regrid = p->gas.regrid;
  g->scheme.individual = p->gas.steps == GAS_STEPS_INDIVIDUAL;
  g->tasks.fused = p->gas.fused;
  g->scheme.fix_fluxes = p->gas.fix_fluxes;
  g->cell = gas_length(p) / p->gas.root[0];
  packages_read(g, p);
  set_flags(g, p);
  g->tasks.blocks = g->tasks.fused ? 0 : BLOCKS_FOR_EACH_WORKER * engine_workers();
  g->tasks.block = allocate(g->tasks.blocks, sizeof *g->tasks.block, "blocks of gas");
  for (uint32_t i = 0; i < g->tasks.blocks; i++)
    g->tasks.block[i] = handle_make(gas_batch_groups_most(g) * gas_block_bytes(g), 1);
  g->tasks.speeds = handle_make_empty();
  g->tasks.scratch = allocate(engine_workers(), sizeof *g->tasks.scratch, "scratch of gas");
  engine_set_variant(2 * (uint32_t)g->scheme.physics.solver + (p->gas.precision == GAS_DOUBLE));
  gas_make_level(g, 0);
  gas_link(g, 0, 0);
  return g;
}

void gas_free(struct gas *g) {
  gas_particles_free(g->particles); /* waits for tasks, which look at the levels */
  gas_forget_replaced(g);
  for (int level = 0; level <= g->topology.finest; level++) {
    struct gas_level l = gas_take_level(g, level);
    gas_free_level(&l);
    ghosts_free(&g->level[level].ghosts);
  }
  for (uint32_t i = 0; i < g->tasks.blocks; i++) handle_drop(&g->tasks.block[i]);
  handle_drop(&g->tasks.speeds);
  for (unsigned w = 0; w < engine_workers(); w++) free(g->tasks.scratch[w]);
  free(g->tasks.scratch);
  free(g->tasks.block);
  gravity_free(g->gravity);
  topology_free(&g->topology);
  free(g);
}

/** The present cells of an own batch. */
static starpu_data_handle_t cells_of(const struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  return gas_batch(g, level, batch)->handle[l->now];
}

void gas_acquire(struct gas *g, enum starpu_data_access_mode mode) {
  if (mode != STARPU_R) g->measured = false;
  if (g->particles) gas_particles_acquire(g, 0);
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++)
      handle_acquire(cells_of(g, level, i), mode);
  }
}

void gas_release(struct gas *g) {
  if (g->particles) gas_particles_release(g, 0);
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++)
      starpu_data_release(cells_of(g, level, i));
  }
}
