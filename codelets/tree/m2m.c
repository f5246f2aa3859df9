/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m: multipoles of a group's inner nodes from their children's. Reads T; updates M. */
#include "codelets/runtime/task.h"

static void m2m_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  s->kernels->fmm.m2m(s->acceptance.order, s->depth, s->scale, VECTOR(const struct node, buffers[0]),
                      VECTOR(float, buffers[1]));
}

#ifdef PHOTONS_CUDA
static void m2m_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  gpu_m2m(task_worker(a)->gpu, s->acceptance.order, s->depth, s->scale, VECTOR(const struct node, buffers[0]),
          VECTOR(float, buffers[1]));
}
#endif

PHOTONS_CODELET(m2m, 0x66aadd, tree_nodes(a->simulation->depth));

void m2m_submit(struct group *g) {
  const struct starpu_data_descr data[] = {{g->tree_handle, STARPU_R}, {g->multipole_handle, STARPU_RW}};
  task_submit(&m2m_codelet, (struct task_argument){.simulation = g->simulation, .group = g}, data, 2, PRIORITY_UPWARD);
}
