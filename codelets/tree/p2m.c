/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2m: multipoles of a group's leaves, and of its inner nodes from those of their children (m2m).
 *
 * reads  positions, the tree; masses, if they differ
 * writes the multipoles */
#include <math.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/debug_check.h"
#include "photons/domain/codelets.h"
#include "photons/runtime/parts.h"
#include "photons/tree/codelets.h"

struct p2m_argument {
  const struct short_range *s;
  uint32_t count;
  bool masses; /* they differ */
};
enum { POSITION, TREE, MULTIPOLE, MASS, SLOTS };

/** The first number of a multipole is the count of particles, exact as a float in leaves. */
static void check_multipoles(const struct p2m_argument *a, const float *multipole) {
  const uint32_t size = fmm_multipole_size(a->s->order), depth = a->s->domain->depth;
  for (uint32_t node = 1u << depth; node < tree_nodes(depth); node++) {
    const uint32_t count = node_end(a->count, node) - node_first(a->count, node);
    DEBUG_CHECK(multipole[node * size] == (float)count, "leaf %u has %g for %u particles", node,
                (double)multipole[node * size], count);
  }
  DEBUG_CHECK(fabsf(multipole[size] - (float)a->count) <= 1e-6f * (float)a->count,
              "the root has %g for %u particles", (double)multipole[size], a->count);
}

static double p2m_work(const struct p2m_argument *a) { return a->count; }

/** A task on a core in parts, which are subtrees. */
struct p2m_parts {
  const struct p2m_argument *a;
  const uint32_t *x;
  const float *mass; /* NULL: masses do not differ */
  const struct node *tree;
  float *multipole;
  unsigned level; /* of the roots of the subtrees */
  unsigned
      top; /* the highest level whose multipoles the parts make: each has as many nodes there as m2m works on */
};

static void p2m_part(void *context, uint32_t i) {
  const struct p2m_parts *p = context;
  const struct short_range *s = p->a->s;
  const uint32_t root = (1u << p->level) + i;
  s->kernels->fmm.p2m(s->order, p->a->count, s->domain->depth, root, expansion_scale(s), p->x,
                      p->mass, p->tree, p->multipole);
  s->kernels->fmm.m2m(s->order, root, p->top, s->domain->depth, expansion_scale(s), p->tree,
                      p->multipole);
}

static void p2m_cpu(void *buffers[], const struct p2m_argument *a) {
  const unsigned depth = a->s->domain->depth, level = subtree_level(a->count, depth),
                 top = level + FMM_NODES_LOG2;
  struct p2m_parts p = {.a = a,
                        .x = VECTOR(const uint32_t, buffers[POSITION]),
                        .mass = a->masses ? VECTOR(const float, buffers[MASS]) : NULL,
                        .tree = VECTOR(const struct node, buffers[TREE]),
                        .level = level,
                        .top = top < depth ? top : depth};
  p.multipole = VECTOR(float, buffers[MULTIPOLE]);
  parts_run(1u << level, p2m_part, &p);
  a->s->kernels->fmm.m2m(a->s->order, 1, 0, p.top, expansion_scale(a->s), p.tree, p.multipole);
  if (DEBUG_CHECKS && !a->masses) check_multipoles(a, p.multipole);
}

static void p2m_gpu(struct gpu *gpu, void *buffers[], const struct p2m_argument *a) {
  const struct domain *d = a->s->domain;
  const struct node *tree = VECTOR(const struct node, buffers[TREE]);
  float *multipole = VECTOR(float, buffers[MULTIPOLE]);
  gpu_p2m(gpu, a->s->order, a->count, d->depth, expansion_scale(a->s),
          VECTOR(const uint32_t, buffers[POSITION]),
          a->masses ? VECTOR(const float, buffers[MASS]) : NULL, tree, multipole);
  gpu_m2m(gpu, a->s->order, d->depth, expansion_scale(a->s), tree, multipole);
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
                           .owner = &g->index});
}

static starpu_data_handle_t multipole(void *context, const struct group *g, uint32_t i) {
  (void)i;
  return multipole_of(context, g);
}

void multipoles_transfer(struct short_range *s) {
  ghosts_transfer(s->domain, &(struct carried){.kind = BUNDLE_MULTIPOLES,
                                               .message = MESSAGE_MULTIPOLE,
                                               .priority = PRIORITY_HIGH,
                                               .nodes = 1,
                                               .data = multipole,
                                               .context = s});
}
