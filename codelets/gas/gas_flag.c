/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_flag: finds the cells that are to be refined.
 *
 * reads  blocks; densities of particles
 * writes gas_level.flags */
#include <stdlib.h>
#include <string.h>

#include "codelets/gas/batches.h"
#include "photons/gas/particles.h"

#define gas_flag_argument batch_argument
enum { BLOCKS, MATTER };

static double gas_flag_work(const struct batch_argument *a) { return batch_work(a); }

/** The density of particles in the cells of group i. @return NULL: there are no particles */
static const double *density_of(void *buffers[], const struct gas *g, uint32_t i,
                                double density[GAS_GROUP_CELLS]) {
  if (!g->particles) return NULL;
  memset(density, 0, GAS_GROUP_CELLS * sizeof *density);
  matter_add(VECTOR(const struct gas_matter, buffers[MATTER]) + i, 1.0, density);
  return density;
}

static void gas_flag_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  struct gas_flags flags = g->flags[a->level];
  if (g->particles) flags.particles *= g->particles->lightest;
  for (uint32_t i = 0; i < b->count; i++) {
    double density[GAS_GROUP_CELLS];
    g->kernels->flag(&g->physics, &flags, nth(buffers[BLOCKS], gas_block_bytes(g), i),
                     density_of(buffers, g, i, density), g->buffer,
                     g->level[a->level].flags[b->first + i]);
  }
}

static void gas_flag_gpu(struct gpu *gpu, void *buffers[], const struct batch_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  gpu_gas_flag(&g, &a->gas->flags[a->level], a->gas->buffer, VECTOR(void, buffers[BLOCKS]),
               a->gas->level[a->level].flags + batch_of(a)->first);
}

STAGE(gas_flag, 0xaa4499, "gas");

void gas_flag_submit(struct gas *g, int level, uint32_t batch, starpu_data_handle_t block) {
  struct slots slots = {0};
  slots_add(&slots, block, STARPU_R);
  if (g->particles) slots_add(&slots, g->level[level].batch[batch].matter, STARPU_R);
  gas_flag_insert((struct batch_argument){g, level, batch, 0.0, false},
                  slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
