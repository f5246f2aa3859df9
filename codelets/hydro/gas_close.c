/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_close: adds the fluxes of a step to the mean over the step of the next coarser level.
 *
 * reads   fluxes
 * updates fluxes through the sides of the groups */
#include <string.h>

#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"
#include "photons/hydro/codelets.h"

struct gas_close_argument {
  struct batch_argument batch;
  double share; /* of the step in that of the next coarser level */
  bool first;   /* of the steps in it */
};
enum { SIDES, FLUXES, SLOTS };

static double gas_close_work(const struct gas_close_argument *a) { return batch_work(&a->batch); }

static void gas_close_cpu(void *buffers[], const struct gas_close_argument *a) {
  const struct gas *g = a->batch.gas;
  for (uint32_t i = 0; i < batch_of(&a->batch)->count; i++) {
    void *sides = nth(buffers[SIDES], gas_sides_bytes(g), i);
    if (a->first) memset(sides, 0, gas_sides_bytes(g));
    g->scheme.kernels->flux_add(g->scheme.variables, nth(buffers[FLUXES], gas_fluxes_bytes(g), i),
                                a->share, sides);
  }
}

static void gas_close_gpu(struct gpu *gpu, void *buffers[], const struct gas_close_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  gpu_gas_close(&g, a->share, a->first, VECTOR(void, buffers[FLUXES]),
                VECTOR(void, buffers[SIDES]));
}

STAGE(gas_close, 0x77aadd, "gas");

void gas_close_submit(struct gas *g, int level, uint32_t batch, double share, bool first) {
  const struct gas_batch *b = gas_batch(g, level, batch);
  const struct starpu_data_descr data[SLOTS] = {
      [SIDES] = {b->sides, first ? STARPU_W : STARPU_RW}, [FLUXES] = {b->fluxes, STARPU_R}};
  gas_close_insert((struct gas_close_argument){{g, level, batch}, share, first},
                   (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_MIDDLE});
}
