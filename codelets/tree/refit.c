/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refit: boxes of all nodes of a group from its particles.
 *
 * reads  positions, accelerations
 * writes the tree; group.top (its upper levels, for the host) */
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/tree/codelets.h"

struct refit_argument {
  const struct short_range *s;
  const struct group *g;
};
enum { POSITION, ACCELERATION, TREE, SLOTS };

static double refit_work(const struct refit_argument *a) { return a->g->count; }

static void refit_cpu(void *buffers[], const struct refit_argument *a) {
  const struct domain *d = a->s->domain;
  struct node *tree = VECTOR(struct node, buffers[TREE]);
  a->s->kernels->walk.refit(a->g->count, d->depth, d->geometry.scale, 1.0f / a->s->factor,
                            VECTOR(const uint32_t, buffers[POSITION]),
                            VECTOR(const float, buffers[ACCELERATION]), tree);
  memcpy(a->g->top, tree, tree_nodes(d->top_depth) * sizeof *tree);
}

static void refit_gpu(struct gpu *gpu, void *buffers[], const struct refit_argument *a) {
  const struct domain *d = a->s->domain;
  gpu_refit(gpu, a->g->count, d->depth, d->geometry.scale, 1.0f / a->s->factor,
            VECTOR(const uint32_t, buffers[POSITION]), VECTOR(const float, buffers[ACCELERATION]),
            VECTOR(struct node, buffers[TREE]), d->top_depth, a->g->top);
}

STAGE(refit, 0xbbbbbb, NULL);

void refit_submit(struct short_range *s, struct group *g) {
  const struct starpu_data_descr data[SLOTS] = {
      [POSITION] = {g->column[COLUMN_position], STARPU_R},
      [ACCELERATION] = {g->column[COLUMN_acceleration], STARPU_R},
      [TREE] = {g->tree, STARPU_W}};
  refit_insert((struct refit_argument){s, g}, (struct task){.data = data,
                                                            .count = SLOTS,
                                                            .priority = PRIORITY_HIGHEST,
                                                            .owner = &g->index});
}
