/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_source: the source of the root level's potential in a batch, on the GPU of the batch's home.
 * gas_root_solve reads it where there are several homes: it takes up less than the cells.
 *
 * reads  cells, densities of particles, pseudo-mass
 * writes POTENTIAL_NEXT, root_gpu.sum */
#include <stdlib.h>

#include "codelets/potential/potentials.h"
#include "photons/potential/root_gpu.h"

struct gas_root_source_argument {
  struct batch_argument batch;
  const struct root_gpu *root;
  double factor; /* gravity_factor() */
  bool massive;
};
enum { SOURCE, CELLS, OTHERS };

static double gas_root_source_work(const struct gas_root_source_argument *a) {
  return batch_work(&a->batch);
}

static void gas_root_source_gpu(struct gpu *gpu, void *buffers[],
                                const struct gas_root_source_argument *a) {
  const struct gas *gas = a->batch.gas;
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  struct gpu_density density = gpu_density_of(gas, buffers[CELLS],
                                              a->massive ? buffers[OTHERS] : NULL,
                                              buffers[OTHERS + a->massive], a->factor);
  density.mean = 0.0; /* what does not attract is the wave of number 0 */
  gpu_root_source(&g, &density, VECTOR(double, buffers[SOURCE]), a->root->sum + own_of(&a->batch));
}

STAGE_ON_GPU(gas_root_source, 0x335588, "gas");

void gas_root_source_submit(struct gas *g, const struct root_gpu *r, uint32_t batch, bool massive) {
  const struct gas_root_source_argument a = {{g, 0, batch}, r, gravity_factor(g, 0), massive};
  const struct gas_batch *b = batch_of(&a.batch);
  struct slots slots = slots_of("gas_root_source", g, 0, batch);
  slots_add(&slots, potential_handle(g, 0, batch, POTENTIAL_NEXT), STARPU_W);
  slots_add(&slots, b->handle[g->level[0].now], STARPU_R);
  if (massive) slots_add(&slots, b->sheets, STARPU_R);
  matter_slot(&slots, g, 0, batch);
  gas_root_source_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
