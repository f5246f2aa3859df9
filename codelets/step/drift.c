/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift: x += p int dt/a^2, in position units, whose overflow is the periodic wrap.
 *
 * reads   momenta
 * updates positions */
#include "codelets/runtime/task.h"
#include "cuda/step/gpu_step.h"
#include "photons/step/codelets.h"

struct drift_argument {
  const struct step_kernels *kernels;
  uint32_t count;
  float factor; /* position units per unit of momentum */
};
enum { MOMENTUM, POSITION, SLOTS };

static double drift_work(const struct drift_argument *a) { return a->count; }

static void drift_cpu(void *buffers[], const struct drift_argument *a) {
  a->kernels->drift(a->count, 0, a->count, a->factor, VECTOR(const float, buffers[MOMENTUM]),
                    VECTOR(uint32_t, buffers[POSITION]));
}

static void drift_gpu(struct gpu *gpu, void *buffers[], const struct drift_argument *a) {
  gpu_drift(gpu, a->count, a->factor, VECTOR(const float, buffers[MOMENTUM]),
            VECTOR(uint32_t, buffers[POSITION]));
}

STAGE(drift, 0xddbb88, NULL);

float drift_units(const struct nbody *n, float factor) {
  return factor * (float)(POSITION_TURN / n->domain.geometry.box);
}

void drift_submit(struct nbody *n, struct group *g, float factor) {
  const struct starpu_data_descr data[SLOTS] = {
      [MOMENTUM] = {g->column[COLUMN_momentum], STARPU_R},
      [POSITION] = {g->column[COLUMN_position], STARPU_RW}};
  drift_insert((struct drift_argument){n->kernels, g->count, drift_units(n, factor)},
               (struct task){
                   .data = data, .count = SLOTS, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
