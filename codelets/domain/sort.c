/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: a group's particles back in the order of its tree. Reads T, for where the group lies; changes X, V, A and the ids. */
#include "photons/domain/group_sort.h"
#include "codelets/runtime/task.h"

static void sort_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  group_sort(a->group->count, a->simulation->depth, VECTOR(struct node, buffers[0])[1].centre,
             VECTOR(uint32_t, buffers[1]), VECTOR(float, buffers[2]), VECTOR(float, buffers[3]),
             VECTOR(uint64_t, buffers[4]));
}

#ifdef PHOTONS_CUDA
static void sort_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  gpu_sort(task_worker(a)->gpu, a->group->count, VECTOR(struct node, buffers[0]), VECTOR(uint32_t, buffers[1]),
           VECTOR(float, buffers[2]), VECTOR(float, buffers[3]), VECTOR(uint64_t, buffers[4]));
}
#endif

PHOTONS_CODELET(sort, 0x999999, a->group->count);

void sort_submit(struct group *g) {
  const struct starpu_data_descr data[] = {{g->tree_handle, STARPU_R},
                                           {g->position_handle, STARPU_RW},
                                           {g->momentum_handle, STARPU_RW},
                                           {g->acceleration_handle, STARPU_RW},
                                           {g->id_handle, STARPU_RW}};
  task_submit(&sort_codelet, (struct task_argument){.simulation = g->simulation, .group = g}, data, 5, PRIORITY_REFIT);
}
