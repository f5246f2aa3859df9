/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refit: boxes of all nodes of a group from its drifted particles. Reads X, A; writes T, and notes its uppermost nodes for the host. */
#include <string.h>

#include "codelets/runtime/task.h"

static void refit_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  s->kernels->walk.refit(a->group->count, s->depth, s->scale, 1.0f / s->short_factor,
                         VECTOR(const uint32_t, buffers[0]), VECTOR(const float, buffers[1]),
                         VECTOR(struct node, buffers[2]));
  memcpy(a->group->top, VECTOR(struct node, buffers[2]), tree_nodes(s->top_depth) * sizeof(struct node));
}

#ifdef PHOTONS_CUDA
static void refit_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  gpu_refit(task_worker(a)->gpu, a->group->count, s->depth, s->scale, 1.0f / s->short_factor,
            VECTOR(const uint32_t, buffers[0]), VECTOR(const float, buffers[1]), VECTOR(struct node, buffers[2]),
            s->top_depth, a->group->top);
}
#endif

PHOTONS_CODELET(refit, 0xbbbbbb, a->group->count);

void refit_submit(struct group *g) {
  const struct starpu_data_descr data[] = {
      {g->position_handle, STARPU_R}, {g->acceleration_handle, STARPU_R}, {g->tree_handle, STARPU_W}};
  task_submit(&refit_codelet, (struct task_argument){.simulation = g->simulation, .group = g}, data, 3, PRIORITY_REFIT);
}
