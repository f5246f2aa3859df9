/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2l: adds the local expansion of each node to those of its children. Does nothing if the far list
 * is empty.
 *
 * reads   the tree of the targets
 * updates the local expansions */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/tree/codelets.h"

struct l2l_argument {
  const struct short_range *s;
  const struct walk_result *walked;
  unsigned depth;
};
enum { TREE, LOCAL, SLOTS };

static double l2l_work(const struct l2l_argument *a) {
  return a->walked->interactions ? tree_nodes(a->depth) : 1;
}

static void l2l_cpu(void *buffers[], const struct l2l_argument *a) {
  if (a->walked->interactions == 0) return;
  a->s->kernels->fmm.l2l(a->s->order, a->depth, expansion_scale(a->s),
                         VECTOR(const struct node, buffers[TREE]), VECTOR(float, buffers[LOCAL]));
}

static void l2l_gpu(struct gpu *gpu, void *buffers[], const struct l2l_argument *a) {
  if (a->walked->interactions == 0) return;
  gpu_l2l(gpu, a->s->order, a->depth, expansion_scale(a->s),
          VECTOR(const struct node, buffers[TREE]), VECTOR(float, buffers[LOCAL]));
}

STAGE(l2l, 0x44aa99, "m2l");

void l2l_submit(struct short_range *s, struct group *g) {
  const struct group_expansions *e = expansions_of(s, g);
  const struct starpu_data_descr data[SLOTS] = {
      [TREE] = {e->targets.tree, STARPU_R}, [LOCAL] = {e->local, STARPU_RW}};
  l2l_insert(
      (struct l2l_argument){s, &e->lists.walked, e->targets.depth},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOW, .owner = &g->index});
}
