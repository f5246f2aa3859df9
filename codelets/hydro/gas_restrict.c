/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_restrict: refined patches get the means of the finer cells, where the batch's home has these.
 *
 * reads   cells of the next finer level; links on GPUs
 * updates cells */
#include "codelets/hydro/restrict.h"
#include "photons/hydro/codelets.h"

#define gas_restrict_argument batch_argument
enum { CELLS, FINE };

static double gas_restrict_work(const struct batch_argument *a) { return batch_work(a); }

void restrict_batch_cpu(const struct batch_argument *a, void *cells, void *fine[]) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  const uint32_t home = gas_home_of_batch(g, a->level, a->batch);
  for (uint32_t i = 0; i < b->count; i++)
    for (int p = 0; p < GAS_PATCHES; p++) {
      const uint32_t son = topology_group(&g->topology, a->level, b->first + i)->son[p];
      uint32_t k = 0;
      if (son == NO_GROUP || gas_home(g, a->level + 1, son) != home) continue;
      while (b->sons.batch[k] != son / b->sons.groups) k++;
      g->scheme.kernels->restrict_group(g->scheme.variables,
                                        nth(fine[k], gas_group_bytes(g), son % b->sons.groups),
                                        nth(cells, gas_group_bytes(g), i), p);
    }
}

static void gas_restrict_cpu(void *buffers[], const struct batch_argument *a) {
  restrict_batch_cpu(a, buffers[CELLS], buffers + FINE);
}

static void gas_restrict_gpu(struct gpu *gpu, void *buffers[], const struct batch_argument *a) {
  restrict_batch_gpu(gpu, a, buffers[CELLS], buffers + FINE,
                     buffers[FINE + batch_of(a)->sons.count]);
}

STAGE(gas_restrict, 0xddcc77, "gas");

void gas_restrict_submit(struct gas *g, int level, uint32_t batch) {
  const struct batch_argument a = {g, level, batch};
  const struct gas_batch *b = batch_of(&a);
  struct slots slots = slots_of("gas_restrict", g, level, batch);
  slots_add(&slots, b->handle[g->level[level].now], STARPU_RW);
  slots_add_list(&slots, g, level + 1, &b->sons, true);
  slots_add_links(&slots, b);
  gas_restrict_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
