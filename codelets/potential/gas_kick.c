/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_kick: accelerates the groups of a batch by the gradient of the potential.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level; links on GPUs
 * updates cells */
#include <stdlib.h>

#include "codelets/potential/kick.h"

static double gas_kick_work(const struct gas_kick_argument *a) { return batch_work(&a->batch); }

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
