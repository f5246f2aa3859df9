/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2m: multipoles of a group's leaves. Reads X, T; writes M. */
#include "codelets/runtime/task.h"

static void p2m_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  s->kernels->fmm.p2m(s->acceptance.order, a->group->count, s->depth, s->scale, VECTOR(const uint32_t, buffers[0]),
                      VECTOR(const struct node, buffers[1]), VECTOR(float, buffers[2]));
}

#ifdef PHOTONS_CUDA
static void p2m_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  gpu_p2m(task_worker(a)->gpu, s->acceptance.order, a->group->count, s->depth, s->scale,
          VECTOR(const uint32_t, buffers[0]), VECTOR(const struct node, buffers[1]), VECTOR(float, buffers[2]));
}
#endif

PHOTONS_CODELET(p2m, 0x88ccee, a->group->count);

void p2m_submit(struct group *g) {
  const struct starpu_data_descr data[] = {
      {g->position_handle, STARPU_R}, {g->tree_handle, STARPU_R}, {g->multipole_handle, STARPU_W}};
  task_submit(&p2m_codelet, (struct task_argument){.simulation = g->simulation, .group = g}, data, 3, PRIORITY_UPWARD);
}
