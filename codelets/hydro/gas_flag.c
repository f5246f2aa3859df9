/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_flag: finds the cells that are to be refined.
 *
 * reads  cells of the groups and of their neighbours, of their level and of the next coarser one;
 *        densities of particles; links on GPUs
 * writes gas_level.flags */
#include <stdlib.h>
#include <string.h>

#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"
#include "photons/amr/matter.h"
#include "photons/hydro/codelets.h"

struct gas_flag_argument {
  struct batch_argument batch;
  double weight; /* time of the level within the last step of the next coarser one, 0 .. 1 */
};
enum { MATTER };

static double gas_flag_work(const struct gas_flag_argument *a) { return batch_work(&a->batch); }

/** Without particles there is no slot MATTER. */
static size_t first_source(const struct gas *g) { return g->particles ? MATTER + 1 : MATTER; }

/** The criteria, for the masses of the particles that there are. */
static struct gas_flags criteria(const struct gas_flag_argument *a) {
  struct gas_flags flags = a->batch.gas->refinement.flags[a->batch.level];
  if (a->batch.gas->particles) flags.particles *= a->batch.gas->refinement.lightest;
  return flags;
}

/** The density of particles in the cells of group i. @return NULL: there are no particles */
static const double *density_of(void *buffers[], const struct gas *g, uint32_t i,
                                double density[GAS_GROUP_CELLS]) {
  if (!g->particles) return NULL;
  memset(density, 0, GAS_GROUP_CELLS * sizeof *density);
  matter_add(VECTOR(const struct gas_matter, buffers[MATTER]) + i, 1.0, density);
  return density;
}

static void gas_flag_cpu(void *buffers[], const struct gas_flag_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const char **cells = slots_addresses(buffers, first_source(g), source_slots(b, a->weight));
  const struct block_sources sources = block_sources_of(&a->batch, cells, a->weight);
  char *block = gas_scratch(g) + g->scheme.kernels->scratch_bytes;
  const struct gas_flags flags = criteria(a);
  for (uint32_t i = 0; i < b->count; i++) {
    double density[GAS_GROUP_CELLS];
    block_fill(&sources, b->first + i, block);
    g->scheme.kernels->flag(&g->scheme.physics, &flags, block, density_of(buffers, g, i, density),
                            g->refinement.buffer,
                            g->level[a->batch.level].flags[own_of(&a->batch) + i]);
  }
  free(cells);
}

static void gas_flag_gpu(struct gpu *gpu, void *buffers[], const struct gas_flag_argument *a) {
  const struct gas *gas = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const size_t first = first_source(gas), links = first + source_slots(b, a->weight);
  const char **cells = slots_addresses(buffers, first, links - first);
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct gpu_sources sources = gpu_sources_of(&a->batch, cells, a->weight,
                                                    VECTOR(const struct gas_links, buffers[links]));
  const struct gas_flags flags = criteria(a);
  gpu_gas_flag(&g, &sources, &flags, gas->refinement.buffer,
               gas->particles ? VECTOR(const struct gas_matter, buffers[MATTER]) : NULL,
               gas->level[a->batch.level].flags + own_of(&a->batch));
  free(cells);
}

STAGE(gas_flag, 0xaa4499, "gas");

void gas_flag_submit(struct gas *g, int level, uint32_t batch, double weight) {
  const struct gas_flag_argument a = {{g, level, batch}, weight};
  const struct gas_batch *b = batch_of(&a.batch);
  struct slots slots = slots_of("gas_flag", g, level, batch);
  if (g->particles) slots_add(&slots, b->matter, STARPU_R);
  slots_add_sources(&slots, g, level, b, weight);
  slots_add_links(&slots, b);
  gas_flag_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
