/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2l: local expansions of a group from its far list. Reads the list, T and M of the neighbours; writes L, unless the list is empty: then
 * L is not looked at. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

static void m2l_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  if (a->group->walked.interactions == 0) return;
  const struct group *g = a->group;
  const struct node *nodes[g->neighbours];
  const float *multipole[g->neighbours];
  for (uint32_t i = 0; i < g->neighbours; i++) {
    nodes[i] = VECTOR(const struct node, buffers[2 + i]);
    multipole[i] = VECTOR(const float, buffers[2 + g->neighbours + i]);
  }
  const struct interaction_list far = list_unwrap(g, true, buffers + 2 + 2 * g->neighbours, false);
  s->kernels->fmm.m2l(s->acceptance.order, s->depth, s->scale, &s->split, &far, nodes[0], nodes, multipole,
                      VECTOR(float, buffers[0]));
}

#ifdef PHOTONS_CUDA
static void m2l_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  if (a->group->walked.interactions == 0) return;
  const struct group *g = a->group;
  const struct node *nodes[g->neighbours];
  const float *multipole[g->neighbours];
  for (uint32_t i = 0; i < g->neighbours; i++) {
    nodes[i] = VECTOR(const struct node, buffers[2 + i]);
    multipole[i] = VECTOR(const float, buffers[2 + g->neighbours + i]);
  }
  const struct interaction_list far = list_unwrap(g, true, buffers + 2 + 2 * g->neighbours, true);
  gpu_m2l(task_worker(a)->gpu, s->acceptance.order, s->depth, s->scale, &far, nodes[0], g->neighbours, nodes, multipole,
          VECTOR(float, buffers[0]));
}
#endif

PHOTONS_CODELET(m2l, 0x117733,
                a->group->walked.interactions ? a->group->walked.interactions + tree_nodes(a->simulation->depth) : 1);

void m2l_submit(struct group *g) {
  struct simulation *s = g->simulation;
  struct starpu_data_descr *data = allocate(2 * (size_t)g->neighbours + 4, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){g->local_handle, STARPU_W};
  data[1] = (struct starpu_data_descr){g->lists_handle, STARPU_R};
  for (uint32_t i = 0; i < g->neighbours; i++) {
    const struct group *neighbour = &s->groups[g->neighbour[i]];
    data[2 + i] = (struct starpu_data_descr){neighbour->tree_handle, STARPU_R};
    data[2 + g->neighbours + i] = (struct starpu_data_descr){neighbour->multipole_handle, STARPU_R};
  }
  const size_t tables = 2 * (size_t)g->neighbours + 2;
  task_submit(&m2l_codelet, (struct task_argument){.simulation = s, .group = g, .last_reader_of = &g->lists.far}, data,
              tables + list_add(g, g->far_handle, data + tables), PRIORITY_LOCAL);
  list_drop(&g->far_handle);
  free(data);
}

void m2l_skip(struct group *g) { list_drop(&g->far_handle); }
