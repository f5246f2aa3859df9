/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2p: direct short-range forces of a group. Reads the near list, T, X of the neighbours; writes A. */
#include "photons/error.h"
#include "task.h"

static void p2p_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  struct group *g = a->group;
  struct task_clock clock = task_begin(a, STAGE_P2P);
  struct group_lists *lists = (struct group_lists *)STARPU_VARIABLE_GET_PTR(buffers[1]);
  const uint32_t *x[g->neighbours];
  uint32_t count[g->neighbours];
  for (uint32_t i = 0; i < g->neighbours; i++) {
    x[i] = VECTOR(const uint32_t, buffers[3 + i]);
    count[i] = s->groups[g->neighbour[i]].count;
  }
  struct p2p_target target = {.count = g->count,
                              .depth = s->depth,
                              .scale = s->scale,
                              .factor = s->short_factor,
                              .x = x[0],
                              .nodes = VECTOR(const struct node, buffers[2]),
                              .near = &lists->near,
                              .source_x = x,
                              .source_count = count};
  float *acceleration = VECTOR(float, buffers[0]);
  g->pairs = s->law.kind == P2P_EXACT ? p2p_exact(&s->law, &target, acceleration)
                                      : s->kernels->p2p.p2p(&s->law, &target, &task_worker(a)->p2p, acceleration);
  interaction_list_free(&lists->near); /* this was its only reader */
  task_end(&clock);
}

PHOTONS_CODELET(p2p, 0xcc6677, p2p_cpu, a->group->walked.pairs);

void p2p_submit(struct group *g) {
  struct simulation *s = g->simulation;
  struct starpu_data_descr *data = allocate(g->neighbours + 3, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){g->acceleration_handle, STARPU_W};
  data[1] = (struct starpu_data_descr){g->lists_handle, STARPU_R};
  data[2] = (struct starpu_data_descr){g->tree_handle, STARPU_R};
  for (uint32_t i = 0; i < g->neighbours; i++)
    data[3 + i] = (struct starpu_data_descr){s->groups[g->neighbour[i]].position_handle, STARPU_R};
  task_submit(&p2p_codelet, (struct task_argument){.simulation = s, .group = g}, data, g->neighbours + 3, PRIORITY_LOCAL);
  free(data);
}
