/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_collect: densities of particles of finer levels, in those refined patches of a batch whose
 * finer groups are of the batch's home.
 *
 * reads   densities of the next finer level; links on GPUs
 * updates densities */
#include <stdlib.h>

#include "codelets/amr/batches.h"
#include "cuda/pm/gpu_pm.h"
#include "photons/amr/matter.h"
#include "photons/pm/codelets.h"

#define gas_collect_argument batch_argument
enum { MATTER, FINE };

static double gas_collect_work(const struct batch_argument *a) { return batch_work(a); }

static void gas_collect_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  const char **address = slots_addresses(buffers, FINE, b->sons.count);
  const struct batch_cells sons = {&b->sons, address};
  const uint32_t home = gas_home_of_batch(g, a->level, a->batch);
  for (uint32_t i = 0; i < b->count; i++)
    for (int p = 0; p < GAS_PATCHES; p++) {
      const uint32_t son = topology_group(&g->topology, a->level, b->first + i)->son[p];
      double mean[GAS_PATCH_CELLS];
      if (son == NO_GROUP || gas_home(g, a->level + 1, son) != home) continue;
      matter_means(matter_of(&sons, son), mean);
      matter_put_means(mean, p, VECTOR(struct gas_matter, buffers[MATTER]) + i);
    }
  free(address);
}

static void gas_collect_gpu(struct gpu *gpu, void *buffers[], const struct batch_argument *a) {
  const uint32_t sons = batch_of(a)->sons.count;
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  const char **finer = slots_addresses(buffers, FINE, sons);
  gpu_gas_collect(&g, VECTOR(const struct gas_links, buffers[FINE + sons]), finer, sons,
                  VECTOR(struct gas_matter, buffers[MATTER]));
  free(finer);
}

STAGE(gas_collect, 0xaa8855, "gas");

void gas_collect_submit(struct gas *g, int level, uint32_t batch) {
  const struct batch_argument a = {g, level, batch};
  const struct gas_batch *b = batch_of(&a);
  struct slots slots = slots_of("gas_collect", g, level, batch);
  slots_add(&slots, b->matter, STARPU_RW);
  for (uint32_t i = 0; i < b->sons.count; i++)
    slots_add(&slots, gas_batch(g, level + 1, b->sons.batch[i])->matter, STARPU_R);
  slots_add_links(&slots, b);
  gas_collect_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
