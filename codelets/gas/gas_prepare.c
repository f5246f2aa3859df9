/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_prepare: copies the groups of a batch with their ghost cells into blocks.
 *
 * reads  cells of the groups and of their neighbours, of their level and of the next coarser one
 * writes the blocks */
#include <stdlib.h>

#include "codelets/gas/batches.h"
#include "photons/gas/blocks.h"

#define gas_prepare_argument batch_argument
enum { BLOCKS, CELLS };

static double gas_prepare_work(const struct batch_argument *a) { return batch_work(a); }

static void gas_prepare_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas_batch *b = batch_of(a);
  const uint32_t near = b->near.count, coarse = b->coarse.count;
  const char **cells = slots_addresses(buffers, CELLS, near + 2 * (size_t)coarse);
  const struct block_sources sources = {.gas = a->gas,
                                        .level = a->level,
                                        .near = {&b->near, cells},
                                        .coarse = {&b->coarse, cells + near},
                                        .before = {&b->coarse, cells + near + coarse},
                                        .weight = a->weight};
  for (uint32_t i = 0; i < b->count; i++)
    block_fill(&sources, b->first + i, nth(buffers[BLOCKS], gas_block_bytes(a->gas), i));
  free(cells);
}

STAGE_ON_CPU(gas_prepare, 0x88ccee, "gas");

starpu_data_handle_t gas_prepare_submit(struct gas *g, int level, uint32_t batch, double weight) {
  const struct batch_argument a = {g, level, batch, weight, false};
  const struct gas_batch *b = batch_of(&a);
  starpu_data_handle_t block = g->block[g->next_block++ % g->blocks];
  struct slots slots = {0};
  slots_add(&slots, block, STARPU_W);
  slots_add_list(&slots, g, level, &b->near, true);
  slots_add_list(&slots, g, level - 1, &b->coarse, true);
  slots_add_list(&slots, g, level - 1, &b->coarse, false);
  gas_prepare_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
  return block;
}
