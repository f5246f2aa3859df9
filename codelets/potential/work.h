/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What gravity gives to a batch's gas at the end of a step, by gas_work and, of batches with particles, by gas_push. */
#ifndef PHOTONS_CODELETS_POTENTIAL_WORK_H
#define PHOTONS_CODELETS_POTENTIAL_WORK_H

#include <stdlib.h>

#include "codelets/potential/potentials.h"

struct gas_work_argument {
  struct batch_argument batch;
  double dt;                       /* of the step */
  double begin_weight, end_weight; /* of the step within the coarser one's */
};
enum { WORK_CELLS, WORK_BEFORE, WORK_MASS, WORK_POTENTIALS }; /* then links on GPUs */

static inline struct surroundings surroundings_of_work(const struct gas_work_argument *a,
                                                       enum gas_potential which) {
  return (struct surroundings){.gas = a->batch.gas,
                               .level = a->batch.level,
                               .batch = a->batch.batch,
                               .near = true,
                               .coarse = true,
                               .weight = which == POTENTIAL_BEGIN ? a->begin_weight : a->end_weight,
                               .which = which};
}

static inline double work_factor(const struct gas_work_argument *a) {
  return a->dt / gas_cell(a->batch.gas, a->batch.level);
}

static inline void gas_work_cpu(void *buffers[], const struct gas_work_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const struct surroundings at_begin = surroundings_of_work(a, POTENTIAL_BEGIN),
                            at_end = surroundings_of_work(a, POTENTIAL_END);
  const size_t second = WORK_POTENTIALS + surroundings_count(&at_begin);
  const char **addresses[2];
  const struct potential_sources begin = surroundings_of(&at_begin, buffers, WORK_POTENTIALS,
                                                         &addresses[0]),
                                 end = surroundings_of(&at_end, buffers, second, &addresses[1]);
  for (uint32_t i = 0; i < b->count; i++) {
    double block[2][POISSON_CELLS];
    potential_block(&begin, b->first + i, block[0]);
    potential_block(&end, b->first + i, block[1]);
    void *cells = nth(buffers[WORK_CELLS], gas_group_bytes(g), i);
    g->gravity->kernels->work(&g->scheme.physics, work_factor(a), block[0], block[1],
                              nth(buffers[WORK_MASS], gas_mass_bytes(g), i),
                              nth(buffers[WORK_BEFORE], gas_group_bytes(g), i), cells);
  }
  free(addresses[0]);
  free(addresses[1]);
}

static inline void gas_work_gpu(struct gpu *gpu, void *buffers[],
                                const struct gas_work_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct surroundings at_begin = surroundings_of_work(a, POTENTIAL_BEGIN),
                            at_end = surroundings_of_work(a, POTENTIAL_END);
  const size_t second = WORK_POTENTIALS + surroundings_count(&at_begin),
               links = second + surroundings_count(&at_end);
  const char **addresses[2];
  const struct gpu_potentials begin = gpu_potentials_of(&at_begin, buffers, WORK_POTENTIALS, links,
                                                        &addresses[0]),
                              end = gpu_potentials_of(&at_end, buffers, second, links,
                                                      &addresses[1]);
  double *blocks = gpu_gas_potential_memory(&g, 2);
  double *end_blocks = blocks + (size_t)g.groups * POISSON_CELLS;
  gpu_gas_potential_blocks(&g, &begin, blocks);
  gpu_gas_potential_blocks(&g, &end, end_blocks);
  gpu_gas_work(&g, work_factor(a), blocks, end_blocks, VECTOR(void, buffers[WORK_MASS]),
               VECTOR(void, buffers[WORK_BEFORE]), VECTOR(void, buffers[WORK_CELLS]));
  free(addresses[0]);
  free(addresses[1]);
}

#endif
