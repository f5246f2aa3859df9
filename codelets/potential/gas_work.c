/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_work: makes the energy that gravity gives in a step the work of the mass that flowed through faces, and
 * accelerates the groups of a batch as gas_kick does, for the second half of the step.
 *
 * reads   cells at the beginning of the step; mass fluxes; potentials at its beginning and at its end of the batch,
 *         its neighbours, and of the next coarser level; links on GPUs
 * updates cells */
#include <stdlib.h>

#include "codelets/potential/potentials.h"

struct gas_work_argument {
  struct batch_argument batch;
  double dt;                       /* of the step */
  double begin_weight, end_weight; /* of the step within the coarser one's */
};
enum { CELLS, BEFORE, MASS, POTENTIALS_AROUND };

static double gas_work_work(const struct gas_work_argument *a) { return batch_work(&a->batch); }

static struct surroundings surroundings(const struct gas_work_argument *a,
                                        enum gas_potential which) {
  return (struct surroundings){.gas = a->batch.gas,
                               .level = a->batch.level,
                               .batch = a->batch.batch,
                               .near = true,
                               .coarse = true,
                               .weight = which == POTENTIAL_BEGIN ? a->begin_weight : a->end_weight,
                               .which = which};
}

static double dt_dh(const struct gas_work_argument *a) {
  return a->dt / gas_cell(a->batch.gas, a->batch.level);
}

static void gas_work_cpu(void *buffers[], const struct gas_work_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const struct surroundings at_begin = surroundings(a, POTENTIAL_BEGIN),
                            at_end = surroundings(a, POTENTIAL_END);
  const size_t second = POTENTIALS_AROUND + surroundings_count(&at_begin);
  const char **addresses[2];
  const struct potential_sources begin = surroundings_of(&at_begin, buffers, POTENTIALS_AROUND,
                                                         &addresses[0]),
                                 end = surroundings_of(&at_end, buffers, second, &addresses[1]);
  for (uint32_t i = 0; i < b->count; i++) {
    double block[2][POISSON_CELLS];
    potential_block(&begin, b->first + i, block[0]);
    potential_block(&end, b->first + i, block[1]);
    void *cells = nth(buffers[CELLS], gas_group_bytes(g), i);
    g->gravity->kernels->work(&g->scheme.physics, dt_dh(a), block[0], block[1],
                              nth(buffers[MASS], gas_mass_bytes(g), i),
                              nth(buffers[BEFORE], gas_group_bytes(g), i), cells);
  }
  free(addresses[0]);
  free(addresses[1]);
}

static void gas_work_gpu(struct gpu *gpu, void *buffers[], const struct gas_work_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct surroundings at_begin = surroundings(a, POTENTIAL_BEGIN),
                            at_end = surroundings(a, POTENTIAL_END);
  const size_t second = POTENTIALS_AROUND + surroundings_count(&at_begin),
               links = second + surroundings_count(&at_end);
  const char **addresses[2];
  const struct gpu_potentials begin = gpu_potentials_of(&at_begin, buffers, POTENTIALS_AROUND,
                                                        links, &addresses[0]),
                              end = gpu_potentials_of(&at_end, buffers, second, links,
                                                      &addresses[1]);
  double *blocks = gpu_gas_potential_memory(&g, 2);
  double *end_blocks = blocks + (size_t)g.groups * POISSON_CELLS;
  gpu_gas_potential_blocks(&g, &begin, blocks);
  gpu_gas_potential_blocks(&g, &end, end_blocks);
  gpu_gas_work(&g, dt_dh(a), blocks, end_blocks, VECTOR(void, buffers[MASS]),
               VECTOR(void, buffers[BEFORE]), VECTOR(void, buffers[CELLS]));
  free(addresses[0]);
  free(addresses[1]);
}

STAGE(gas_work, 0xdd7755, "gas");

void gas_work_submit(struct gas *g, int level, uint32_t batch, struct gravity_step s) {
  const struct gas_work_argument a = {{g, level, batch}, s.dt, s.begin, s.end};
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = gas_batch(g, level, batch);
  const struct surroundings at_begin = surroundings(&a, POTENTIAL_BEGIN),
                            at_end = surroundings(&a, POTENTIAL_END);
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
