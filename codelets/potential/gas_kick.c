/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_kick: accelerates the groups of a batch by the gradient of the potential.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level; links on GPUs
 * updates cells */
#include <stdlib.h>

#include "codelets/potential/potentials.h"

struct gas_kick_argument {
  struct batch_argument batch;
  double time;   /* of the kick */
  double weight; /* of the time of the level within the coarser one's step */
};
enum { CELLS, POTENTIALS_AROUND };

static double gas_kick_work(const struct gas_kick_argument *a) { return batch_work(&a->batch); }

/** Time / (2 cell). */
static double kick_factor(const struct gas_kick_argument *a) {
  return a->time / (2.0 * gas_cell(a->batch.gas, a->batch.level));
}

static void gas_kick_cpu(void *buffers[], const struct gas_kick_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const char **addresses;
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const struct potential_sources sources = surroundings_of(&around, buffers, POTENTIALS_AROUND,
                                                           &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    double block[POISSON_CELLS];
    potential_block(&sources, b->first + i, block);
    g->gravity->kernels->kick(block, kick_factor(a), nth(buffers[CELLS], gas_group_bytes(g), i));
  }
  free(addresses);
}

static void gas_kick_gpu(struct gpu *gpu, void *buffers[], const struct gas_kick_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const size_t first = POTENTIALS_AROUND;
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(
      &around, buffers, first, first + surroundings_count(&around), &addresses);
  double *blocks = gpu_gas_potential_memory(&g, 1);
  gpu_gas_potential_blocks(&g, &from, blocks);
  gpu_gas_kick(&g, kick_factor(a), blocks, VECTOR(void, buffers[CELLS]));
  free(addresses);
}

STAGE(gas_kick, 0xee8866, "gas");

void gas_kick_submit(struct gas *g, int level, uint32_t batch, double dt, double weight) {
  const struct gas_kick_argument a = {{g, level, batch}, dt, weight};
  const struct gas_level *l = &g->level[level];
  const struct surroundings around = surroundings_of_kick(&a.batch, a.weight);
  struct slots slots = slots_of("gas_kick", g, level, batch);
  slots_add(&slots, gas_batch(g, level, batch)->handle[l->now], STARPU_RW);
  surroundings_slots(&slots, &around);
  slots_add_links(&slots, gas_batch(g, level, batch));
  gas_kick_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
