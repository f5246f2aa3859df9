/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2p: accelerations from the leaves' local expansions. Reads X, T, L; adds to A. */
#include "codelets/runtime/task.h"

static void l2p_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  if (a->group->walked.interactions == 0) return;
  s->kernels->fmm.l2p(s->acceptance.order, a->group->count, s->depth, s->scale, s->short_factor,
                      VECTOR(const uint32_t, buffers[1]), VECTOR(const struct node, buffers[2]),
                      VECTOR(const float, buffers[3]), VECTOR(float, buffers[0]));
}

#ifdef PHOTONS_CUDA
static void l2p_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  if (a->group->walked.interactions == 0) return;
  gpu_l2p(task_worker(a)->gpu, s->acceptance.order, a->group->count, s->depth, s->scale, s->short_factor,
          VECTOR(const uint32_t, buffers[1]), VECTOR(const struct node, buffers[2]), VECTOR(const float, buffers[3]),
          VECTOR(float, buffers[0]));
}
#endif

PHOTONS_CODELET(l2p, 0x55bbaa, a->group->walked.interactions ? a->group->count : 1);

void l2p_submit(struct group *g) {
  const struct starpu_data_descr data[] = {{g->acceleration_handle, STARPU_RW},
                                           {g->position_handle, STARPU_R},
                                           {g->tree_handle, STARPU_R},
                                           {g->local_handle, STARPU_R}};
  task_submit(&l2p_codelet, (struct task_argument){.simulation = g->simulation, .group = g}, data, 4, PRIORITY_LOCAL);
}
