/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_push: kicks the particles of a batch by the gradient of the potential, and drifts them; or finds
 * their largest acceleration.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level; links on GPUs
 * updates particles
 * writes  particle_level.sums
 *
 * The task reads particle_level.first without its `readers`: before particles settle, which replaces this table, the host
 * waits for gas_leave of the same batches, which comes behind and reads the same particles. Batches without particles
 * have no tasks. */
#include <stdlib.h>

#include "codelets/pm/clouds.h"
#include "codelets/potential/potentials.h"
#include "photons/base/error.h"
#include "photons/pm/particles.h"

struct gas_push_argument {
  struct batch_argument batch;
  double dt;     /* of the step that begins; 0: one ends; less than 0: no step */
  double weight; /* of the time of the level within the coarser one's step */
};
enum { PARTICLES, POTENTIALS_AROUND };

static double gas_push_work(const struct gas_push_argument *a) { return batch_work(&a->batch); }

static void gas_push_cpu(void *buffers[], const struct gas_push_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const struct particle_level *l = &g->particles->level[a->batch.level];
  const char **addresses;
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const struct potential_sources sources = surroundings_of(&around, buffers, POTENTIALS_AROUND,
                                                           &addresses);
  for (uint32_t group = b->first; group < b->first + b->count; group++) {
    double potential[WIDE_CELLS];
    if (particle_first(l, group) == particle_first(l, group + 1)) continue;
    potential_wide(&sources, group, potential);
    if (a->dt < 0.0)
      gas_particles_feel(g, a->batch.level, group, potential);
    else
      gas_particles_push(g, a->batch.level, group, potential, a->dt);
  }
  free(addresses);
}

static void gas_push_gpu(struct gpu *gpu, void *buffers[], const struct gas_push_argument *a) {
  const struct batch_argument *batch = &a->batch;
  const struct gas_batch *b = batch_of(batch);
  const struct particle_level *l = &batch->gas->particles->level[batch->level];
  const struct gpu_gas g = gpu_gas_of(gpu, batch);
  const struct gpu_particle_box box = particle_box_of(batch->gas, batch->level);
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const size_t links = POTENTIALS_AROUND + surroundings_count(&around);
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(&around, buffers, POTENTIALS_AROUND, links,
                                                       &addresses);
  uint32_t *first = allocate(b->count + 1, sizeof *first, "particles of groups");
  for (uint32_t i = 0; i <= b->count; i++)
    first[i] = (uint32_t)(particle_first(l, b->first + i) - particle_first(l, b->first));
  gpu_gas_push(&g, &box, a->dt, from.links, first, gpu_gas_potential_wide(&g, &from),
               VECTOR(struct gas_particle, buffers[PARTICLES]), l->sums + b->first - l->own_first);
  free(first);
  free(addresses);
}

STAGE(gas_push, 0xddaa22, "gas");

void gas_push_submit(struct gas *g, int level, uint32_t batch, double dt, double weight) {
  const struct gas_push_argument a = {{g, level, batch}, dt, weight};
  const struct surroundings around = surroundings_of_kick(&a.batch, a.weight);
  struct slots slots = slots_of("gas_push", g, level, batch);
  slots_require(&slots, g->particles->level[level].settled == g->topology.level[level].changes,
                "particles", level);
  slots_add(&slots, gas_batch(g, level, batch)->particles, STARPU_RW);
  surroundings_slots(&slots, &around);
  slots_add_links(&slots, gas_batch(g, level, batch));
  gas_push_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
