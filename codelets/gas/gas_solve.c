/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_solve: a time step of the groups of a batch.
 *
 * reads  blocks
 * writes cells at the end of the step, fluxes, gas_level.fault */
#include <stdint.h>

#include "codelets/gas/batches.h"

#define gas_solve_argument batch_argument
enum { CELLS, FLUXES, BLOCKS, SCRATCH, SLOTS };
enum { ALIGNMENT = 64 };

static double gas_solve_work(const struct batch_argument *a) { return batch_work(a); }

static void gas_solve_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  const uintptr_t scratch = (uintptr_t)VECTOR(char, buffers[SCRATCH]);
  void *aligned = (void *)((scratch + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  for (uint32_t i = 0; i < b->count; i++) {
    struct gas_fault fault;
    g->kernels->solve(&g->physics, a->weight / gas_cell(g, a->level), a->flag,
                      nth(buffers[BLOCKS], gas_block_bytes(g), i),
                      nth(buffers[CELLS], gas_group_bytes(g), i),
                      nth(buffers[FLUXES], gas_fluxes_bytes(g), i), aligned, &fault);
    struct gas_fault *first = &g->level[a->level].fault[b->first + i];
    if (first->patch < 0) *first = fault;
  }
}

STAGE_ON_CPU(gas_solve, 0x4477aa, "gas");

void gas_solve_submit(struct gas *g, int level, uint32_t batch, double dt,
                      starpu_data_handle_t block) {
  const struct gas_level *l = &g->level[level];
  const bool reversed = l->steps % 2 == 1;
  const struct gas_batch *b = &l->batch[batch];
  const struct starpu_data_descr data[SLOTS] = {[CELLS] = {b->handle[1 - l->now], STARPU_W},
                                                [FLUXES] = {b->fluxes, STARPU_W},
                                                [BLOCKS] = {block, STARPU_R},
                                                [SCRATCH] = {g->scratch, STARPU_SCRATCH}};
  gas_solve_insert((struct batch_argument){g, level, batch, dt, reversed},
                   (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_MIDDLE});
}
