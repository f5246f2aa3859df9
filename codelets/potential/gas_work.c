/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_work: makes the energy that gravity gives in a step the work of the mass that flowed through faces, and
 * accelerates the groups of a batch as gas_kick does, for the second half of the step.
 *
 * reads   cells at the beginning of the step; mass fluxes; potentials at its beginning and at its end of the batch,
 *         its neighbours, and of the next coarser level; links on GPUs
 * updates cells */
#include <stdlib.h>

#include "codelets/potential/work.h"

static double gas_work_work(const struct gas_work_argument *a) { return batch_work(&a->batch); }

STAGE(gas_work, 0xdd7755, "gas");

void gas_work_submit(struct gas *g, int level, uint32_t batch, struct gravity_step s) {
  const struct gas_work_argument a = {{g, level, batch}, s.dt, s.begin, s.end};
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = gas_batch(g, level, batch);
  const struct surroundings at_begin = surroundings_of_work(&a, POTENTIAL_BEGIN),
                            at_end = surroundings_of_work(&a, POTENTIAL_END);
  struct slots slots = slots_of("gas_work", g, level, batch);
  slots_add(&slots, b->handle[l->now], STARPU_RW);
  slots_add(&slots, b->handle[1 - l->now], STARPU_R);
  slots_add(&slots, b->mass, STARPU_R);
  surroundings_slots(&slots, &at_begin);
  surroundings_slots(&slots, &at_end);
  slots_add_links(&slots, b);
  gas_work_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
