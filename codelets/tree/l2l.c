/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2l: local expansions handed down from each node to its children. Reads T; updates L. */
#include "codelets/runtime/task.h"

static void l2l_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  if (a->group->walked.interactions == 0) return;
  s->kernels->fmm.l2l(s->acceptance.order, s->depth, s->scale, VECTOR(const struct node, buffers[0]),
                      VECTOR(float, buffers[1]));
}

#ifdef PHOTONS_CUDA
static void l2l_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  if (a->group->walked.interactions == 0) return;
  gpu_l2l(task_worker(a)->gpu, s->acceptance.order, s->depth, s->scale, VECTOR(const struct node, buffers[0]),
          VECTOR(float, buffers[1]));
}
#endif

PHOTONS_CODELET(l2l, 0x44aa99, a->group->walked.interactions ? tree_nodes(a->simulation->depth) : 1);

void l2l_submit(struct group *g) {
  const struct starpu_data_descr data[] = {{g->tree_handle, STARPU_R}, {g->local_handle, STARPU_RW}};
  task_submit(&l2l_codelet, (struct task_argument){.simulation = g->simulation, .group = g}, data, 2, PRIORITY_LOCAL);
}
