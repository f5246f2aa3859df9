/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick: p += acceleration int dt/a. Reads A; updates V; notes the largest acceleration, which sets the next step. */
#include <math.h>

#include "codelets/runtime/task.h"

static void kick_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  a->group->acc_max = a->simulation->kernels->step.kick(a->group->count, a->factor, VECTOR(const float, buffers[0]),
                                                        VECTOR(float, buffers[1]));
}

#ifdef PHOTONS_CUDA
static void kick_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  gpu_kick(task_worker(a)->gpu, a->group->count, a->factor, VECTOR(const float, buffers[0]), VECTOR(float, buffers[1]),
           &a->group->acc_max);
}
#endif

PHOTONS_CODELET(kick, 0xeeaa99, a->group->count);

void kick_submit(struct group *g, float factor) {
  const struct starpu_data_descr data[] = {{g->acceleration_handle, STARPU_R}, {g->momentum_handle, STARPU_RW}};
  task_submit(&kick_codelet, (struct task_argument){.simulation = g->simulation, .group = g, .factor = factor}, data, 2,
              PRIORITY_LOCAL);
}
