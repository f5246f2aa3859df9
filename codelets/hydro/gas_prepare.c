/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_prepare: copies the groups of a batch with their ghost cells into blocks.
 *
 * reads  cells of the groups and of their neighbours, of their level and of the next coarser one;
 *        links on GPUs
 * writes the blocks */
#include <stdlib.h>

#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"
#include "photons/hydro/codelets.h"

struct gas_prepare_argument {
  struct batch_argument batch;
  double weight; /* time of the level within the last step of the next coarser one, 0 .. 1 */
};
enum { BLOCKS, CELLS };

static double gas_prepare_work(const struct gas_prepare_argument *a) {
  return batch_work(&a->batch);
}

static void gas_prepare_cpu(void *buffers[], const struct gas_prepare_argument *a) {
  const struct gas_batch *b = batch_of(&a->batch);
  const char **cells = slots_addresses(buffers, CELLS, source_slots(b, a->weight));
  const struct block_sources sources = block_sources_of(&a->batch, cells, a->weight);
  for (uint32_t i = 0; i < b->count; i++)
    block_fill(&sources, b->first + i, nth(buffers[BLOCKS], gas_block_bytes(a->batch.gas), i));
  free(cells);
}

static void gas_prepare_gpu(struct gpu *gpu, void *buffers[],
                            const struct gas_prepare_argument *a) {
  const size_t links = CELLS + source_slots(batch_of(&a->batch), a->weight);
  const char **cells = slots_addresses(buffers, CELLS, links - CELLS);
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct gpu_sources sources = gpu_sources_of(&a->batch, cells, a->weight,
                                                    VECTOR(const struct gas_links, buffers[links]));
  gpu_gas_prepare(&g, &sources, VECTOR(void, buffers[BLOCKS]), NULL);
  free(cells);
}

STAGE(gas_prepare, 0x88ccee, "gas");

starpu_data_handle_t gas_prepare_submit(struct gas *g, int level, uint32_t batch, double weight) {
  const struct gas_prepare_argument a = {{g, level, batch}, weight};
  const struct gas_batch *b = batch_of(&a.batch);
  starpu_data_handle_t block = g->tasks.block[g->tasks.next_block++ % g->tasks.blocks];
  struct slots slots = slots_of("gas_prepare", g, level, batch);
  slots_add(&slots, block, STARPU_W);
  slots_add_sources(&slots, g, level, b, weight);
  slots_add_links(&slots, b);
  gas_prepare_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
  return block;
}
