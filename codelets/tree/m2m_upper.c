/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m_upper: multipoles, and where they differ masses, of nodes above groups (photons/tree/upper.h): of a node and of
 * those below it, down to those that another task has made or to groups. With GPUs it runs there: the multipoles of
 * whole trees are on a GPU, and those of roots alone would have to be cut out of them before cores could have them.
 *
 * reads  of the lowest of these nodes multipoles and masses, and boxes in the memory of the host
 * writes multipoles and masses of those above that are wanted */
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/error.h"
#include "photons/tree/codelets.h"

struct m2m_upper_argument {
  const struct short_range *s;
  const struct upper_node *node; /* the highest one */
};
/* The lowest nodes are followed by those above in heap order, and then by the masses of all these. */
enum { NODES_MOST = 2 << UPPER_LEVELS };

static bool masses_differ(const struct short_range *s) {
  return particles_have(&s->domain->particles, COLUMN_relative_mass);
}

static double m2m_upper_work(const struct m2m_upper_argument *a) {
  return tree_nodes(upper_levels(a->s, a->node));
}

/** The nodes of a task in heap order: so many levels below `g`, which is node k. */
static void heap_of(const struct group *g, uint32_t k, unsigned levels, const struct group **heap) {
  heap[k] = g;
  for (uint32_t child = 0; levels > 0 && child < 2; child++)
    heap_of(upper_node_of(g)->child[child], 2 * k + child, levels - 1, heap);
}

/** The nodes whose data a task has, by their places in the heap: all lowest ones, then those above that are wanted.
 * @param[out] node  [NODES_MOST] @return their number */
static uint32_t list_nodes(const struct group *const *heap, uint32_t lowest, uint32_t *node) {
  uint32_t n = 0;
  for (uint32_t k = lowest; k < 2 * lowest; k++) node[n++] = k;
  for (uint32_t k = 1; k < lowest; k++)
    if (upper_node_of(heap[k])->wanted) node[n++] = k;
  return n;
}

/** What a task works on, by place in the heap. */
struct heap {
  unsigned levels;
  uint32_t lowest;
  struct node box[NODES_MOST];
  float *multipole[NODES_MOST], *mass[NODES_MOST]; /* as of node 1 of a tree; NULL: not wanted */
};

static struct heap unwrap(void *buffers[], const struct m2m_upper_argument *a) {
  struct heap h = {.levels = upper_levels(a->s, a->node)};
  uint32_t node[NODES_MOST];
  const struct group *heap[NODES_MOST];
  h.lowest = 1u << h.levels;
  heap_of(&a->node->group, 1, h.levels, heap);
  const uint32_t n = list_nodes(heap, h.lowest, node);
  for (uint32_t k = 1; k < 2 * h.lowest; k++) h.box[k] = heap[k]->root;
  for (uint32_t i = 0; i < n; i++) {
    h.multipole[node[i]] = VECTOR(float, buffers[i]);
    if (masses_differ(a->s)) h.mass[node[i]] = VECTOR(float, buffers[n + i]);
  }
  return h;
}

/** The sums of the masses of all nodes above the lowest ones. */
static void sum_masses(const struct heap *h) {
  float mass[NODES_MOST];
  for (uint32_t k = h->lowest; k < 2 * h->lowest; k++) mass[k] = h->mass[k][1];
  for (uint32_t k = h->lowest - 1; k > 0; k--) {
    mass[k] = mass[2 * k] + mass[2 * k + 1];
    if (h->mass[k]) h->mass[k][1] = mass[k];
  }
}

static void m2m_upper_cpu(void *buffers[], const struct m2m_upper_argument *a) {
  const struct short_range *s = a->s;
  const struct heap h = unwrap(buffers, a);
  const size_t size = fmm_multipole_size(s->order), bytes = size * sizeof(float);
  float *all = allocate(2 * h.lowest * size, sizeof *all, "multipoles");
  for (uint32_t k = h.lowest; k < 2 * h.lowest; k++)
    memcpy(all + k * size, h.multipole[k] + size, bytes);
  s->kernels->fmm.m2m(s->order, 1, 0, h.levels, expansion_scale(s), h.box, all);
  for (uint32_t k = 1; k < h.lowest; k++)
    if (h.multipole[k]) memcpy(h.multipole[k] + size, all + k * size, bytes);
  free(all);
  if (masses_differ(s)) sum_masses(&h);
}

static void m2m_upper_gpu(struct gpu *gpu, void *buffers[], const struct m2m_upper_argument *a) {
  const struct heap h = unwrap(buffers, a);
  gpu_m2m_upper(gpu, a->s->order, h.levels, expansion_scale(a->s), h.box, h.multipole,
                masses_differ(a->s) ? h.mass : NULL);
}

STAGE(m2m_upper, 0x448899, NULL);

static void submit(struct short_range *s, const struct upper_node *top) {
  uint32_t node[NODES_MOST];
  const struct group *heap[NODES_MOST];
  struct starpu_data_descr data[2 * NODES_MOST];
  const unsigned levels = upper_levels(s, top);
  const uint32_t lowest = 1u << levels;
  heap_of(&top->group, 1, levels, heap);
  const uint32_t n = list_nodes(heap, lowest, node);
  for (uint32_t i = 0; i < n; i++) {
    const struct group *g = heap[node[i]];
    const enum starpu_data_access_mode mode = i < lowest ? STARPU_R : STARPU_W;
    data[i] = (struct starpu_data_descr){multipole_of(s, g), mode};
    data[n + i] = (struct starpu_data_descr){g->node_mass, mode};
  }
  m2m_upper_insert((struct m2m_upper_argument){s, top},
                   (struct task){.data = data,
                                 .count = masses_differ(s) ? 2 * n : n,
                                 .priority = PRIORITY_MIDDLE});
}

void m2m_upper_submit(struct short_range *s, bool own) {
  const uint32_t first = own ? s->upper.first_own : 0,
                 end = own ? s->upper.tasks : s->upper.first_own;
  for (uint32_t i = end; i-- > first;) submit(s, s->upper.task[i]);
}
