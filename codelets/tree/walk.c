/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walk and walk_fill: interaction lists of a group with its neighbours. Both read T of all of them. On a processor walk writes the lists.
 * On a GPU it finds how long they are and writes their offsets; the host waits for that, makes room, and walk_fill writes the entries. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

/** Trees of the neighbours, which are buffers first .., and their particles. */
static void unwrap_trees(const struct task_argument *a, void *buffers[], uint32_t first, const struct node **nodes,
                         uint32_t *count) {
  for (uint32_t i = 0; i < a->group->neighbours; i++) {
    nodes[i] = VECTOR(const struct node, buffers[first + i]);
    count[i] = a->simulation->groups[a->group->neighbour[i]].count;
  }
}

static void walk_on_host(const struct task_argument *a, void *buffers[], uint32_t first) {
  const struct simulation *s = a->simulation;
  struct group *g = a->group;
  const struct node *nodes[g->neighbours];
  uint32_t count[g->neighbours];
  unwrap_trees(a, buffers, first, nodes, count);
  g->walked = s->kernels->walk.walk(&s->acceptance, g->count, nodes[0], g->neighbours, nodes, count,
                                    &task_worker(a)->walk, &g->lists.near, &g->lists.far);
  g->walked_by_gpu = false;
}

enum { WALK_TREES = 1, FILL_TREES = 3 }; /* where their trees begin */

static void walk_cpu(void *buffers[], void *arguments) { walk_on_host(arguments, buffers, WALK_TREES); }
/** A walk of its own: two processors of different kinds may judge a pair at the edge differently, so that lengths would not fit. */
static void walk_fill_cpu(void *buffers[], void *arguments) { walk_on_host(arguments, buffers, FILL_TREES); }

#ifdef PHOTONS_CUDA
static void walk_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  struct group *g = a->group;
  const struct node *nodes[g->neighbours];
  uint32_t count[g->neighbours];
  unwrap_trees(a, buffers, WALK_TREES, nodes, count);
  gpu_walk(task_worker(a)->gpu, &a->simulation->acceptance, g->count, nodes[0], g->neighbours, nodes, count,
           VECTOR(uint32_t, buffers[WALK_TREES + g->neighbours]), &g->walked);
  g->walked_by_gpu = true;
}

static void walk_fill_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct group *g = a->group;
  const struct node *nodes[g->neighbours];
  uint32_t count[g->neighbours];
  unwrap_trees(a, buffers, FILL_TREES, nodes, count);
  gpu_walk_fill(task_worker(a)->gpu, &a->simulation->acceptance, g->count, nodes[0], g->neighbours, nodes, count,
                VECTOR(const uint32_t, buffers[2]), VECTOR(uint32_t, buffers[0]), VECTOR(uint32_t, buffers[1]));
}
#endif

PHOTONS_CODELET(walk, 0xddcc77, a->group->walked.visits + a->group->count);
PHOTONS_CODELET(walk_fill, 0xeedd99, a->group->walked.visits + a->group->count);

static void add_trees(const struct group *g, struct starpu_data_descr *data) {
  for (uint32_t i = 0; i < g->neighbours; i++)
    data[i] = (struct starpu_data_descr){g->simulation->groups[g->neighbour[i]].tree_handle, STARPU_R};
}

void walk_submit(struct group *g) {
  struct simulation *s = g->simulation;
  struct starpu_data_descr *data = allocate(g->neighbours + 2, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){g->lists_handle, STARPU_W};
  add_trees(g, data + WALK_TREES);
  if (s->gpu) data[WALK_TREES + g->neighbours] = (struct starpu_data_descr){g->offset_handle, STARPU_W};
  task_submit(&walk_codelet, (struct task_argument){.simulation = s, .group = g}, data,
              (s->gpu ? WALK_TREES + 1 : WALK_TREES) + (size_t)g->neighbours,
              s->gpu ? PRIORITY_REFIT : PRIORITY_WALK); /* the host waits for GPUs' walks */
  free(data);
}

/** Room for so many entries, in steps of an eighth: StarPU keeps memory for the next data of the same size. */
static starpu_data_handle_t room_for(uint64_t entries) {
  uint64_t step = 1;
  starpu_data_handle_t handle;
  interactions_check(entries);
  while (entries / step >= 16) step *= 2;
  const uint64_t room = entries == 0 ? 1 : (entries + step - 1) / step * step;
  starpu_vector_data_register(&handle, -1, 0, room > UINT32_MAX ? UINT32_MAX : (uint32_t)room, sizeof(uint32_t));
  return handle;
}

void walk_wait(struct group *g) {
  if (!g->simulation->gpu) return;
  if (starpu_data_acquire_on_node(g->lists_handle, STARPU_ACQUIRE_NO_NODE, STARPU_R) != 0)
    fail(EXIT_RUN_FAILED, "StarPU could not wait for a walk");
  starpu_data_release_on_node(g->lists_handle, STARPU_ACQUIRE_NO_NODE);
}

void walk_fill_submit(struct group *g) {
  struct simulation *s = g->simulation;
  if (!s->gpu || !g->walked_by_gpu) return;
  g->near_handle = room_for(g->walked.entries);
  g->far_handle = room_for(g->walked.interactions);
  struct starpu_data_descr *data = allocate(g->neighbours + FILL_TREES, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){g->near_handle, STARPU_W};
  data[1] = (struct starpu_data_descr){g->far_handle, STARPU_W};
  data[2] = (struct starpu_data_descr){g->offset_handle, STARPU_R};
  add_trees(g, data + FILL_TREES);
  task_submit(&walk_fill_codelet, (struct task_argument){.simulation = s, .group = g}, data,
              FILL_TREES + (size_t)g->neighbours, PRIORITY_WALK);
  free(data);
}

size_t list_add(const struct group *g, starpu_data_handle_t entries, struct starpu_data_descr *data) {
  if (!entries) return 0;
  data[0] = (struct starpu_data_descr){g->offset_handle, STARPU_R};
  data[1] = (struct starpu_data_descr){entries, STARPU_R};
  return 2;
}

void list_drop(starpu_data_handle_t *entries) {
  if (*entries) starpu_data_unregister_submit(*entries);
  *entries = NULL;
}

struct interaction_list list_unwrap(const struct group *g, bool far, void *buffers[], bool on_gpu) {
  if (!g->walked_by_gpu) return far ? g->lists.far : g->lists.near;
  const uint32_t leaves = 1u << g->simulation->depth;
  return (struct interaction_list){.offset = VECTOR(uint32_t, buffers[0]) + (far ? leaves + 1 : 0),
                                   .entry = VECTOR(uint32_t, buffers[1]),
                                   .entries = (uint32_t)(far ? g->walked.interactions : g->walked.entries),
                                   .on_gpu = on_gpu};
}
