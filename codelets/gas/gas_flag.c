/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_flag: finds the cells that are to be refined.
 *
 * reads  blocks
 * writes gas_level.flags */
#include "codelets/gas/batches.h"

#define gas_flag_argument batch_argument
enum { BLOCKS, SLOTS };

static double gas_flag_work(const struct batch_argument *a) { return batch_work(a); }

static void gas_flag_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  for (uint32_t i = 0; i < b->count; i++)
    g->kernels->flag(&g->physics, &g->flags[a->level], nth(buffers[BLOCKS], gas_block_bytes(g), i),
                     g->buffer, g->level[a->level].flags[b->first + i]);
}

static void gas_flag_gpu(struct gpu *gpu, void *buffers[], const struct batch_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  gpu_gas_flag(&g, &a->gas->flags[a->level], a->gas->buffer, VECTOR(void, buffers[BLOCKS]),
               a->gas->level[a->level].flags + batch_of(a)->first);
}

STAGE(gas_flag, 0xaa4499, "gas");

void gas_flag_submit(struct gas *g, int level, uint32_t batch, starpu_data_handle_t block) {
  const struct starpu_data_descr data[SLOTS] = {[BLOCKS] = {block, STARPU_R}};
  gas_flag_insert((struct batch_argument){g, level, batch, 0.0, false},
                  (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_HIGH});
}
