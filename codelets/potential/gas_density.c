/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_density: the density of gas and particles in all batches that a home has of some levels. The home that finds all
 * potentials (gas_tasks.together) reads it: it takes up less than what it is made from.
 *
 * reads  cells, densities of particles
 * writes gas_level.density of the home */
#include <stdlib.h>

#include "codelets/potential/potentials.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"

struct gas_density_argument {
  struct gas *gas;
  int first, last; /* levels */
  uint32_t home;
};
/* Of each level with groups of the home: its density; then of each batch cells, and densities of particles, if there are
 * any. */

/** Groups of a level that the home has. */
static uint32_t groups_of(const struct gas_density_argument *a, int level) {
  return gas_home_group(a->gas, level, a->home + 1) - gas_home_group(a->gas, level, a->home);
}

static double gas_density_work(const struct gas_density_argument *a) {
  double groups = 0.0;
  for (int level = a->first; level <= a->last; level++) groups += groups_of(a, level);
  return groups;
}

/** @param buffers  of the level @return those of the next one */
static void **find_level(struct gpu *gpu, void *buffers[], const struct gas_density_argument *a,
                         int level) {
  const struct gas *g = a->gas;
  const uint32_t end = gas_home_batch(g, level, a->home + 1);
  double *density = VECTOR(double, *buffers++);
  for (uint32_t i = gas_home_batch(g, level, a->home); i < end; i++) {
    const struct batch_argument batch = {a->gas, level, i};
    const struct gpu_gas groups = gpu_gas_of(gpu, &batch);
    const struct gpu_density from = gpu_density_of(g, buffers[0], NULL,
                                                   g->particles ? buffers[1] : NULL, 1.0);
    gpu_gas_density(&groups, &from, density);
    density += batch_count(&batch) * (size_t)GAS_GROUP_CELLS;
    buffers += 1 + matter_slots(g);
  }
  return buffers;
}

static void gas_density_gpu(struct gpu *gpu, void *buffers[],
                            const struct gas_density_argument *a) {
  for (int level = a->first; level <= a->last; level++)
    if (gas_home_has(a->gas, level, a->home)) buffers = find_level(gpu, buffers, a, level);
}

STAGE_ON_GPU(gas_density, 0x336699, "gas");

/** The home's data of a level, which go to the GPU that finds potentials. */
static starpu_data_handle_t data_of(const struct gas_density_argument *a, int level) {
  struct gas *g = a->gas;
  const uint32_t home = a->home - gas_home_begin(g);
  starpu_data_handle_t *density = &g->level[level].density[home];
  const size_t room = handle_room(groups_of(a, level));
  if (*density && starpu_vector_get_nx(*density) == room) return *density;
  handle_drop(density);
  *density = handle_make(room, GAS_GROUP_CELLS * sizeof(double));
  owner_set(*density, home, g->tasks.homes);
  return *density;
}

static void add_level(struct slots *s, const struct gas_density_argument *a, int level) {
  const struct gas *g = a->gas;
  const uint32_t end = gas_home_batch(g, level, a->home + 1);
  slots_add(s, data_of(a, level), STARPU_W);
  for (uint32_t i = gas_home_batch(g, level, a->home); i < end; i++) {
    slots_add(s, gas_batch(g, level, i)->handle[g->level[level].now], STARPU_R);
    matter_slot(s, g, level, i);
  }
}

void gas_density_submit(struct gas *g, int first, int last, uint32_t home) {
  const struct gas_density_argument a = {g, first, last, home};
  struct slots slots = slots_of("gas_density", g, first, 0);
  for (int level = first; level <= last; level++)
    if (gas_home_has(g, level, home)) add_level(&slots, &a, level);
  if (slots.count > 0) gas_density_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
