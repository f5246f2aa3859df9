/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_assign: a group's particles deposited into its own patch of cells. Reads X; writes the patch. */
#include "codelets/runtime/task.h"

static void pm_assign_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  s->kernels->mesh.deposit(s->mesh, a->group->count, VECTOR(const uint32_t, buffers[0]), a->set == 1, &a->group->patch,
                           VECTOR(float, buffers[1]));
}

#ifdef PHOTONS_CUDA
static void pm_assign_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  gpu_deposit(task_worker(a)->gpu, a->group->count, a->simulation->depth, VECTOR(const uint32_t, buffers[0]),
              a->set == 1, &a->group->patch, VECTOR(float, buffers[1]));
}
#endif

PHOTONS_CODELET(pm_assign, 0xaa4499, a->group->count);

void pm_assign_submit(struct group *g, uint32_t set) {
  const struct starpu_data_descr data[] = {{g->position_handle, STARPU_R}, {g->patch_handle[set], STARPU_W}};
  task_submit(&pm_assign_codelet, (struct task_argument){.simulation = g->simulation, .group = g, .set = set}, data, 2,
              PRIORITY_MESH);
}
