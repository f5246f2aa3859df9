/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_accelerate: changes the velocity of all cells of a batch alike.
 *
 * updates cells */
#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"
#include "photons/hydro/codelets.h"

struct gas_accelerate_argument {
  struct batch_argument batch;
  double change[3]; /* of the velocity */
};
enum { CELLS, SLOTS };

static double gas_accelerate_work(const struct gas_accelerate_argument *a) {
  return batch_work(&a->batch);
}

static void gas_accelerate_cpu(void *buffers[], const struct gas_accelerate_argument *a) {
  const struct gas *g = a->batch.gas;
  for (uint32_t i = 0; i < batch_of(&a->batch)->count; i++)
    g->scheme.kernels->accelerate(a->change, nth(buffers[CELLS], gas_group_bytes(g), i));
}

static void gas_accelerate_gpu(struct gpu *gpu, void *buffers[],
                               const struct gas_accelerate_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  gpu_gas_accelerate(&g, a->change, VECTOR(void, buffers[CELLS]));
}

STAGE(gas_accelerate, 0xddaa66, "gas");

void gas_accelerate_submit(struct gas *g, int level, uint32_t batch, const double change[3]) {
  const struct gas_level *l = &g->level[level];
  const struct starpu_data_descr data[SLOTS] = {
      [CELLS] = {gas_batch(g, level, batch)->handle[l->now], STARPU_RW}};
  gas_accelerate_insert(
      (struct gas_accelerate_argument){{g, level, batch}, {change[0], change[1], change[2]}},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_MIDDLE});
}
