/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: direct short-range forces of a group. Reads the near list, T, X of the neighbours; writes A. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

/** The task's target; list and source tables are filled in. */
static struct p2p_target p2p_unwrap(const struct task_argument *a, void *buffers[], bool on_gpu,
                                    struct interaction_list *near, const uint32_t **x, uint32_t *count) {
  const struct simulation *s = a->simulation;
  const struct group *g = a->group;
  for (uint32_t i = 0; i < g->neighbours; i++) {
    x[i] = VECTOR(const uint32_t, buffers[3 + i]);
    count[i] = s->groups[g->neighbour[i]].count;
  }
  *near = list_unwrap(g, false, buffers + 3 + g->neighbours, on_gpu);
  return (struct p2p_target){.count = g->count,
                             .depth = s->depth,
                             .scale = s->scale,
                             .factor = s->short_factor,
                             .x = x[0],
                             .nodes = VECTOR(const struct node, buffers[2]),
                             .near = near,
                             .source_x = x,
                             .source_count = count};
}

static void p2p_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  struct group *g = a->group;
  const uint32_t *x[g->neighbours];
  uint32_t count[g->neighbours];
  struct interaction_list near;
  const struct p2p_target target = p2p_unwrap(a, buffers, false, &near, x, count);
  float *acceleration = VECTOR(float, buffers[0]);
  g->pairs = s->law.kind == P2P_EXACT ? p2p_exact(&s->law, &target, acceleration)
                                      : s->kernels->p2p.p2p(&s->law, &target, &task_worker(a)->p2p, acceleration);
}

#ifdef PHOTONS_CUDA
static void p2p_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  const uint32_t *x[a->group->neighbours];
  uint32_t count[a->group->neighbours];
  struct interaction_list near;
  const struct p2p_target target = p2p_unwrap(a, buffers, true, &near, x, count);
  gpu_p2p(task_worker(a)->gpu, &s->law, &target, a->group->neighbours, s->law.kind == P2P_EXACT,
          VECTOR(float, buffers[0]), &a->group->pairs);
}
#endif

/* The pairs of the last step foretell those of this one better than the list, which counts sources out of reach. */
PHOTONS_CODELET(p2p, 0xcc6677, a->group->pairs ? a->group->pairs : a->group->walked.pairs);

void p2p_submit(struct group *g) {
  struct simulation *s = g->simulation;
  struct starpu_data_descr *data = allocate(g->neighbours + 5, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){g->acceleration_handle, STARPU_W};
  data[1] = (struct starpu_data_descr){g->lists_handle, STARPU_R};
  data[2] = (struct starpu_data_descr){g->tree_handle, STARPU_R};
  for (uint32_t i = 0; i < g->neighbours; i++)
    data[3 + i] = (struct starpu_data_descr){s->groups[g->neighbour[i]].position_handle, STARPU_R};
  const size_t sources = (size_t)g->neighbours + 3;
  task_submit(&p2p_codelet, (struct task_argument){.simulation = s, .group = g, .last_reader_of = &g->lists.near}, data,
              sources + list_add(g, g->near_handle, data + sources), PRIORITY_LOCAL);
  list_drop(&g->near_handle);
  free(data);
}
