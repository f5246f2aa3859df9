/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refit: boxes of all nodes of a group from its particles.
 *
 * reads  positions, accelerations; masses, if they differ
 * writes the tree; group.top (its upper levels, for the host); the masses of nodes, if they differ */
#include "codelets/tree/refit.h"

#include <math.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/debug_check.h"
#include "photons/runtime/parts.h"
#include "photons/tree/codelets.h"

struct refit_argument {
  const struct short_range *s;
  const struct group *g;
};

/** Boxes are floats made of integers: what is inside by rounding only is inside. */
#define ROUNDING 1e-5f

/** Is a point, or a box of half width `half` around it, inside a node's box along axis c? */
static bool inside(const struct node *node, size_t c, uint32_t x, float half, float scale) {
  const float distance = fabsf((float)position_difference(x, node->centre[c])) * scale;
  return distance + half <= node->half[c] * (1.0f + ROUNDING) + scale;
}

/** Every particle is in its leaf's box, and every box in its parent's. */
static void check_boxes(const struct group *g, unsigned depth, float scale, const uint32_t *x,
                        const struct node *tree) {
  for (uint32_t node = 1; node < tree_nodes(depth); node++)
    for (size_t c = 0; c < 3; c++) {
      DEBUG_CHECK(node == 1 ||
                      inside(&tree[node / 2], c, tree[node].centre[c], tree[node].half[c], scale),
                  "group %u, node %u, axis %zu", g->index, node, c);
      if (node_level(node) < depth) continue;
      for (uint32_t i = node_first(g->count, node); i < node_end(g->count, node); i++)
        DEBUG_CHECK(inside(&tree[node], c, x[c * g->count + i], 0.0f, scale),
                    "group %u, leaf %u, particle %u, axis %zu", g->index, node, i, c);
    }
}

/** Masses of a node and of all below it from those of the particles. */
static void sum_masses(uint32_t count, unsigned depth, uint32_t root, const float *mass,
                       float *node_mass) {
  unsigned levels = depth - node_level(root);
  for (uint32_t leaf = root << levels; leaf < (root + 1) << levels; leaf++) {
    double sum = 0.0;
    for (uint32_t i = node_first(count, leaf); i < node_end(count, leaf); i++)
      sum += (double)mass[i];
    node_mass[leaf] = (float)sum;
  }
  while (levels-- > 0)
    for (uint32_t node = root << levels; node < (root + 1) << levels; node++)
      node_mass[node] = node_mass[2 * node] + node_mass[2 * node + 1];
}

/** A refit in parts. */
struct refit_parts {
  const struct short_range *s;
  const struct group *g;
  void **buffers;
  void (*before)(const void *context, uint32_t first, uint32_t end);
  const void *context;
  struct node *tree;
  float *node_mass; /* NULL: masses do not differ */
  unsigned level;   /* of the roots of the subtrees */
};

static void refit_part(void *context, uint32_t i) {
  const struct refit_parts *p = context;
  const struct short_range *s = p->s;
  const struct domain *d = s->domain;
  const uint32_t count = p->g->count, root = (1u << p->level) + i;
  if (p->before) p->before(p->context, node_first(count, root), node_end(count, root));
  s->kernels->walk.refit(count, d->depth, NULL, root, d->geometry.scale, 1.0f / s->factor,
                         s->acceptance.newton, VECTOR(const uint32_t, p->buffers[REFIT_POSITION]),
                         VECTOR(const float, p->buffers[REFIT_ACCELERATION]), p->tree);
  if (p->node_mass)
    sum_masses(count, d->depth, root, VECTOR(const float, p->buffers[REFIT_MASS]), p->node_mass);
}

/** The nodes above the subtrees. */
static void refit_above(const struct refit_parts *p) {
  const struct domain *d = p->s->domain;
  for (uint32_t node = (1u << p->level) - 1; node > 0; node--) {
    p->s->kernels->walk.join(d->geometry.scale, &p->tree[2 * node], &p->tree[2 * node + 1],
                             &p->tree[node]);
    if (p->node_mass) p->node_mass[node] = p->node_mass[2 * node] + p->node_mass[2 * node + 1];
  }
  if (p->node_mass) p->node_mass[0] = 0.0f; /* unused */
}

void refit_group(const struct short_range *s, const struct group *g, void *buffers[],
                 void (*before)(const void *context, uint32_t first, uint32_t end),
                 const void *context) {
  const struct domain *d = s->domain;
  struct refit_parts p = {.s = s,
                          .g = g,
                          .buffers = buffers,
                          .before = before,
                          .context = context,
                          .tree = VECTOR(struct node, buffers[REFIT_TREE]),
                          .level = subtree_level(g->count, d->depth)};
  if (g->node_mass) p.node_mass = VECTOR(float, buffers[REFIT_NODE_MASS]);
  parts_run(1u << p.level, refit_part, &p);
  refit_above(&p);
  if (DEBUG_CHECKS)
    check_boxes(g, d->depth, d->geometry.scale, VECTOR(const uint32_t, buffers[REFIT_POSITION]),
                p.tree);
  memcpy(g->top, p.tree, tree_nodes(d->top_depth) * sizeof *p.tree);
}

#ifdef PHOTONS_CUDA
void refit_group_on_gpu(struct gpu *gpu, const struct short_range *s, const struct group *g,
                        void *buffers[]) {
  const struct domain *d = s->domain;
  gpu_refit(gpu, g->count, d->depth, NULL, d->geometry.scale, 1.0f / s->factor,
            s->acceptance.newton, VECTOR(const uint32_t, buffers[REFIT_POSITION]),
            VECTOR(const float, buffers[REFIT_ACCELERATION]),
            VECTOR(struct node, buffers[REFIT_TREE]), d->top_depth, g->top);
  if (g->node_mass)
    gpu_node_masses(gpu, g->count, d->depth, VECTOR(const float, buffers[REFIT_MASS]),
                    VECTOR(float, buffers[REFIT_NODE_MASS]));
}
#endif

size_t refit_slots(const struct group *g, struct starpu_data_descr *data) {
  data[REFIT_POSITION] = (struct starpu_data_descr){g->column[COLUMN_position], STARPU_R};
  data[REFIT_ACCELERATION] = (struct starpu_data_descr){g->column[COLUMN_acceleration], STARPU_R};
  data[REFIT_TREE] = (struct starpu_data_descr){g->tree, STARPU_W};
  if (!g->node_mass) return REFIT_MASS;
  data[REFIT_MASS] = (struct starpu_data_descr){g->column[COLUMN_relative_mass], STARPU_R};
  data[REFIT_NODE_MASS] = (struct starpu_data_descr){g->node_mass, STARPU_W};
  return REFIT_SLOTS;
}

static double refit_work(const struct refit_argument *a) { return a->g->count; }

static void refit_cpu(void *buffers[], const struct refit_argument *a) {
  refit_group(a->s, a->g, buffers, NULL, NULL);
}

static void refit_gpu(struct gpu *gpu, void *buffers[], const struct refit_argument *a) {
  refit_group_on_gpu(gpu, a->s, a->g, buffers);
}

STAGE(refit, 0xbbbbbb, NULL);

void refit_submit(struct short_range *s, struct group *g) {
  struct starpu_data_descr data[REFIT_SLOTS];
  const size_t count = refit_slots(g, data);
  refit_insert((struct refit_argument){s, g},
               (struct task){
                   .data = data, .count = count, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
