/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_sum: sums of the conserved variables over the patches of each group that are not refined, in
 * double precision, on cores one cell after the other.
 *
 * reads  cells; links on GPUs
 * writes gas_level.sum */
#include <stdlib.h>

#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"
#include "photons/hydro/codelets.h"

#define gas_sum_argument batch_argument
enum { CELLS, LINKS };

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
    for (unsigned v = 0; v < g->scheme.variables; v++) {
      double *sum = &g->level[a->level].sum[own_of(a) + i][v];
      *sum = 0.0;
      for (unsigned p = 0; p < GAS_PATCHES; p++)
        if (topology_group(&g->topology, a->level, b->first + i)->son[p] == NO_GROUP)
          *sum += sum_patch(cells, g->scheme.kernels->real_size,
                            (v * GAS_PATCHES + p) * (size_t)GAS_PATCH_CELLS);
    }
  }
}

static void gas_sum_gpu(struct gpu *gpu, void *buffers[], const struct batch_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  gpu_gas_sum(&g, VECTOR(const struct gas_links, buffers[LINKS]), VECTOR(void, buffers[CELLS]),
              a->gas->level[a->level].sum + own_of(a));
}

STAGE(gas_sum, 0xddddaa, "gas");

void gas_sum_submit(struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  struct slots slots = slots_of("gas_sum", g, level, batch);
  slots_add(&slots, gas_batch(g, level, batch)->handle[l->now], STARPU_R);
  slots_add_links(&slots, gas_batch(g, level, batch));
  gas_sum_insert((struct batch_argument){g, level, batch}, slots_task(&slots, PRIORITY_LOW));
  free(slots.data);
}
