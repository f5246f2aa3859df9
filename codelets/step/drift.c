/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift: x += p int dt/a^2, in fixed point: the overflow is the periodic wrap. Reads V; updates X. */
#include "codelets/runtime/task.h"

static void drift_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  a->simulation->kernels->step.drift(a->group->count, a->factor, VECTOR(const float, buffers[0]),
                                     VECTOR(uint32_t, buffers[1]));
}

#ifdef PHOTONS_CUDA
static void drift_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  gpu_drift(task_worker(a)->gpu, a->group->count, a->factor, VECTOR(const float, buffers[0]),
            VECTOR(uint32_t, buffers[1]));
}
#endif

PHOTONS_CODELET(drift, 0xddbb88, a->group->count);

void drift_submit(struct group *g, float factor) {
  struct simulation *s = g->simulation;
  const struct starpu_data_descr data[] = {{g->momentum_handle, STARPU_R}, {g->position_handle, STARPU_RW}};
  task_submit(
      &drift_codelet,
      (struct task_argument){.simulation = s, .group = g, .factor = factor * (float)(4294967296.0 / s->particles.box)},
      data, 2, PRIORITY_REFIT);
}
