/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_sum: sums of the conserved variables over the patches of each group that are not refined, in
 * double precision, one cell after the other.
 *
 * reads  cells
 * writes gas_level.sum */
#include "codelets/gas/batches.h"

#define gas_sum_argument batch_argument
enum { CELLS, SLOTS };

static double gas_sum_work(const struct batch_argument *a) { return batch_work(a); }

static double sum_patch(const void *cells, size_t real, size_t first) {
  double sum = 0.0;
  for (size_t i = first; i < first + GAS_PATCH_CELLS; i++)
    sum += real == sizeof(double) ? ((const double *)cells)[i] : (double)((const float *)cells)[i];
  return sum;
}

static void gas_sum_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  for (uint32_t i = 0; i < b->count; i++) {
    const void *cells = nth(buffers[CELLS], gas_group_bytes(g), i);
    for (unsigned v = 0; v < g->variables; v++) {
      double *sum = &g->level[a->level].sum[b->first + i][v];
      *sum = 0.0;
      for (unsigned p = 0; p < GAS_PATCHES; p++)
        if (g->topology.level[a->level].group[b->first + i].son[p] == NO_GROUP)
          *sum += sum_patch(cells, g->kernels->real_size,
                            (v * GAS_PATCHES + p) * (size_t)GAS_PATCH_CELLS);
    }
  }
}

STAGE_ON_CPU(gas_sum, 0xddddaa, "gas");

void gas_sum_submit(struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  const struct starpu_data_descr data[SLOTS] = {
      [CELLS] = {l->batch[batch].handle[l->now], STARPU_R}};
  gas_sum_insert((struct batch_argument){g, level, batch, 0.0, false},
                 (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOW});
}
