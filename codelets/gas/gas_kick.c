/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_kick: accelerates the groups of a batch by the gradient of the potential.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level
 * updates cells */
#include <stdlib.h>

#include "codelets/gas/potentials.h"

struct gas_kick_argument {
  struct batch_argument batch; /* its weight: the time of the kick */
  double weight;               /* of the time of the level within the coarser one's step */
};
enum { CELLS, POTENTIALS_AROUND };

static double gas_kick_work(const struct gas_kick_argument *a) { return batch_work(&a->batch); }

static struct surroundings surroundings(const struct gas_kick_argument *a) {
  return (struct surroundings){a->batch.gas, a->batch.level, a->batch.batch, true,
                               true,         a->weight,      false,          false};
}

static void gas_kick_cpu(void *buffers[], const struct gas_kick_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const double factor = a->batch.weight / (2.0 * gas_cell(g, a->batch.level));
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const struct potential_sources sources = surroundings_of(&around, buffers, POTENTIALS_AROUND,
                                                           &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    double block[POISSON_CELLS];
    potential_block(&sources, b->first + i, block);
    g->gravity->kernels->kick(block, factor, nth(buffers[CELLS], gas_group_bytes(g), i));
  }
  free(addresses);
}

STAGE_ON_CPU(gas_kick, 0xee8866, "gas");

void gas_kick_submit(struct gas *g, int level, uint32_t batch, double dt, double weight) {
  const struct gas_kick_argument a = {{g, level, batch, dt, false}, weight};
  const struct gas_level *l = &g->level[level];
  const struct surroundings around = surroundings(&a);
  struct slots slots = {0};
  slots_add(&slots, l->batch[batch].handle[l->now], STARPU_RW);
  surroundings_slots(&slots, &around);
  gas_kick_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
