/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2l: adds the local expansion of each node to those of its children. Does nothing if the far list
 * is empty.
 *
 * reads   the tree of the targets
 * updates the local expansions */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/runtime/parts.h"
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

/* A part is a subtree of so many levels below its root: 20 us and more. Levels on which a part would have fewer nodes than
 * the kernel works on at a time are done before the parts. */
enum { PART_LEVELS = 7 };

/** A task on a core in parts. */
struct l2l_parts {
  const struct l2l_argument *a;
  const struct node *tree;
  float *local;
  unsigned level; /* of the roots of the subtrees */
  unsigned top;   /* the highest level whose expansions the parts add to those of children */
};

static void l2l_part(void *context, uint32_t i) {
  const struct l2l_parts *p = context;
  const struct short_range *s = p->a->s;
  s->kernels->fmm.l2l(s->order, (1u << p->level) + i, p->top, p->a->depth, expansion_scale(s),
                      p->tree, p->local);
}

static void l2l_cpu(void *buffers[], const struct l2l_argument *a) {
  if (a->walked->interactions == 0) return;
  struct l2l_parts p = {.a = a,
                        .tree = VECTOR(const struct node, buffers[TREE]),
                        .level = a->depth > PART_LEVELS ? a->depth - PART_LEVELS : 0};
  p.local = VECTOR(float, buffers[LOCAL]);
  p.top = p.level == 0 ? 0 : p.level + FMM_NODES_LOG2;
  a->s->kernels->fmm.l2l(a->s->order, 1, 0, p.top, expansion_scale(a->s), p.tree, p.local);
  parts_run(1u << p.level, l2l_part, &p);
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
