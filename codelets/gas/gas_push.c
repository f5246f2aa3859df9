/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_push: kicks the particles of a batch by the gradient of the potential, and drifts them; or finds
 * their largest acceleration.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level
 * updates particles */
#include <stdlib.h>

#include "codelets/gas/potentials.h"
#include "photons/gas/particles.h"

struct gas_push_argument {
  struct batch_argument
      batch;     /* its weight: the step that begins; 0: one ends; less than 0: no step */
  double weight; /* of the time of the level within the coarser one's step */
};
enum { PARTICLES, POTENTIALS_AROUND };

static double gas_push_work(const struct gas_push_argument *a) { return batch_work(&a->batch); }

static struct surroundings surroundings(const struct gas_push_argument *a) {
  return (struct surroundings){.gas = a->batch.gas,
                               .level = a->batch.level,
                               .batch = a->batch.batch,
                               .near = true,
                               .coarse = true,
                               .weight = a->weight};
}

static void gas_push_cpu(void *buffers[], const struct gas_push_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const struct particle_level *l = &g->particles->level[a->batch.level];
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const struct potential_sources sources = surroundings_of(&around, buffers, POTENTIALS_AROUND,
                                                           &addresses);
  for (uint32_t group = b->first; group < b->first + b->count; group++) {
    double potential[WIDE_CELLS];
    if (l->first[group] == l->first[group + 1]) continue;
    potential_wide(&sources, group, potential);
    if (a->batch.weight < 0.0)
      gas_particles_feel(g, a->batch.level, group, potential);
    else
      gas_particles_push(g, a->batch.level, group, potential, a->batch.weight);
  }
  free(addresses);
}

STAGE_ON_CPU(gas_push, 0xddaa22, "gas");

void gas_push_submit(struct gas *g, int level, uint32_t batch, double dt, double weight) {
  const struct gas_push_argument a = {{g, level, batch, dt, false}, weight};
  const struct surroundings around = surroundings(&a);
  struct slots slots = {0};
  slots_add(&slots, g->level[level].batch[batch].particles, STARPU_RW);
  surroundings_slots(&slots, &around);
  gas_push_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
