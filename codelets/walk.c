/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk: interaction lists of a group with its neighbours. Reads T of all of them; writes the lists. */
#include "photons/error.h"
#include "task.h"

static void walk_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  struct group *g = a->group;
  struct task_clock clock = task_begin(a, STAGE_WALK);
  const struct node *nodes[g->neighbours];
  uint32_t count[g->neighbours];
  for (uint32_t i = 0; i < g->neighbours; i++) {
    nodes[i] = VECTOR(const struct node, buffers[1 + i]);
    count[i] = s->groups[g->neighbour[i]].count;
  }
  g->walked = s->kernels->walk.walk(&s->acceptance, g->count, nodes[0], g->neighbours, nodes, count,
                                    &task_worker(a)->walk, &g->lists.near, &g->lists.far);
  task_end(&clock);
}

PHOTONS_CODELET_HOST(walk, 0xddcc77, a->group->walked.visits + a->group->count);

void walk_submit(struct group *g) {
  struct simulation *s = g->simulation;
  struct starpu_data_descr *data = allocate(g->neighbours + 1, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){g->lists_handle, STARPU_W};
  for (uint32_t i = 0; i < g->neighbours; i++)
    data[1 + i] = (struct starpu_data_descr){s->groups[g->neighbour[i]].tree_handle, STARPU_R};
  task_submit(&walk_codelet, (struct task_argument){.simulation = s, .group = g}, data, g->neighbours + 1,
              PRIORITY_WALK);
  free(data);
}
