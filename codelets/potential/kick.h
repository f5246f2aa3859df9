/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kick of a batch's gas, which gas_kick and, of batches with particles, gas_push give it. */
#ifndef PHOTONS_CODELETS_POTENTIAL_KICK_H
#define PHOTONS_CODELETS_POTENTIAL_KICK_H

#include <stdlib.h>

#include "codelets/potential/potentials.h"

struct gas_kick_argument {
  struct batch_argument batch;
  double time;   /* of the kick */
  double weight; /* of the time of the level within the coarser one's step */
};
enum { KICK_CELLS, KICK_POTENTIALS }; /* then links on GPUs */

/** Time / (2 cell). */
static inline double kick_factor(const struct gas_kick_argument *a) {
  return a->time / (2.0 * gas_cell(a->batch.gas, a->batch.level));
}

static inline void gas_kick_cpu(void *buffers[], const struct gas_kick_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const char **addresses;
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const struct potential_sources sources = surroundings_of(&around, buffers, KICK_POTENTIALS,
                                                           &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    double block[POISSON_CELLS];
    potential_block(&sources, b->first + i, block);
    g->gravity->kernels->kick(block, kick_factor(a),
                              nth(buffers[KICK_CELLS], gas_group_bytes(g), i));
  }
  free(addresses);
}

static inline void gas_kick_gpu(struct gpu *gpu, void *buffers[],
                                const struct gas_kick_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const size_t first = KICK_POTENTIALS;
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(
      &around, buffers, first, first + surroundings_count(&around), &addresses);
  double *blocks = gpu_gas_potential_memory(&g, 1);
  gpu_gas_potential_blocks(&g, &from, blocks);
  gpu_gas_kick(&g, kick_factor(a), blocks, VECTOR(void, buffers[KICK_CELLS]));
  free(addresses);
}

#endif
