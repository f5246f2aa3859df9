/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_cfl: the largest speed of a signal in each group of a batch.
 *
 * reads  cells
 * writes gas_level.speed; gas_level.fault, unless faults are passed over */
#include <stdlib.h>

#include "codelets/amr/batches.h"
#include "cuda/hydro/gpu_hydro.h"
#include "photons/hydro/codelets.h"

struct gas_cfl_argument {
  struct batch_argument a;
  bool faults; /* are looked for */
};
enum { CELLS };

static double gas_cfl_work(const struct gas_cfl_argument *a) { return batch_work(&a->a); }

static void gas_cfl_cpu(void *buffers[], const struct gas_cfl_argument *argument) {
  const struct batch_argument *a = &argument->a;
  const struct gas *g = a->gas;
  const struct gas_level *l = &g->level[a->level];
  const struct gas_batch *b = batch_of(a);
  for (uint32_t i = 0; i < b->count; i++) {
    struct gas_fault fault;
    l->speed[own_of(a) + i] = g->scheme.kernels->largest_speed(
        &g->scheme.physics, nth(buffers[CELLS], gas_group_bytes(g), i), &fault);
    if (argument->faults) note_fault(a, i, &fault);
  }
}

static void gas_cfl_gpu(struct gpu *gpu, void *buffers[], const struct gas_cfl_argument *argument) {
  const struct batch_argument *a = &argument->a;
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  const struct gas_level *l = &a->gas->level[a->level];
  gpu_gas_cfl(&g, VECTOR(void, buffers[CELLS]), l->speed + own_of(a),
              argument->faults ? l->fault + own_of(a) : NULL);
}

STAGE(gas_cfl, 0x88aa66, "gas");

void gas_cfl_submit(struct gas *g, int level, uint32_t batch, bool faults) {
  struct slots slots = slots_of("gas_cfl", g, level, batch);
  slots_add(&slots, gas_batch(g, level, batch)->handle[g->level[level].now], STARPU_R);
  slots_add(&slots, g->tasks.speeds, STARPU_R);
  gas_cfl_insert((struct gas_cfl_argument){{g, level, batch}, faults},
                 slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
