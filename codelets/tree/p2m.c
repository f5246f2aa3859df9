/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2m: multipoles of a group's leaves.
 *
 * reads  positions, the tree; masses, if they differ
 * writes the multipoles */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/debug_check.h"
#include "photons/tree/codelets.h"

struct p2m_argument {
  const struct short_range *s;
  uint32_t count;
  bool masses; /* they differ */
};
enum { POSITION, TREE, MULTIPOLE, MASS, SLOTS };

/** The first number of a multipole is the count of particles, exact as a float. */
static void check_leaves(const struct p2m_argument *a, const float *multipole) {
  const uint32_t size = fmm_multipole_size(a->s->order), depth = a->s->domain->depth;
  for (uint32_t node = 1u << depth; node < tree_nodes(depth); node++) {
    const uint32_t count = node_end(a->count, node) - node_first(a->count, node);
    DEBUG_CHECK(multipole[node * size] == (float)count, "leaf %u has %g for %u particles", node,
                (double)multipole[node * size], count);
  }
}

static double p2m_work(const struct p2m_argument *a) { return a->count; }

static void p2m_cpu(void *buffers[], const struct p2m_argument *a) {
  const struct domain *d = a->s->domain;
  a->s->kernels->fmm.p2m(a->s->order, a->count, d->depth, expansion_scale(a->s),
                         VECTOR(const uint32_t, buffers[POSITION]),
                         a->masses ? VECTOR(const float, buffers[MASS]) : NULL,
                         VECTOR(const struct node, buffers[TREE]),
                         VECTOR(float, buffers[MULTIPOLE]));
  if (DEBUG_CHECKS && !a->masses) check_leaves(a, VECTOR(const float, buffers[MULTIPOLE]));
}

static void p2m_gpu(struct gpu *gpu, void *buffers[], const struct p2m_argument *a) {
  const struct domain *d = a->s->domain;
  gpu_p2m(gpu, a->s->order, a->count, d->depth, expansion_scale(a->s),
          VECTOR(const uint32_t, buffers[POSITION]),
          a->masses ? VECTOR(const float, buffers[MASS]) : NULL,
          VECTOR(const struct node, buffers[TREE]), VECTOR(float, buffers[MULTIPOLE]));
}

STAGE(p2m, 0x88ccee, NULL);

void p2m_submit(struct short_range *s, struct group *g) {
  const struct starpu_data_descr data[SLOTS] = {
      [POSITION] = {g->column[COLUMN_position], STARPU_R},
      [TREE] = {g->tree, STARPU_R},
      [MULTIPOLE] = {expansions_of(s, g)->multipole, STARPU_W},
      [MASS] = {g->column[COLUMN_relative_mass], STARPU_R}};
  const bool masses = particles_have(&s->domain->particles, COLUMN_relative_mass);
  p2m_insert((struct p2m_argument){s, g->count, masses},
             (struct task){.data = data,
                           .count = masses ? SLOTS : MASS,
                           .priority = PRIORITY_MIDDLE,
                           .unfinished = true, /* m2m follows */
                           .owner = &g->index});
}
