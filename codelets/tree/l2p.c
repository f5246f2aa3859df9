/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2p: accelerations of the targets from the local expansions of their leaves. Does nothing if the
 * far list is empty.
 *
 * reads  positions, tree and table of leaves of the targets, the local expansions
 * adds to the targets' accelerations */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/runtime/parts.h"
#include "photons/tree/codelets.h"

struct l2p_argument {
  const struct short_range *s;
  const struct walk_result *walked;
  const struct targets *targets;
};
enum { ACCELERATION, POSITION, TREE, FIRST, LOCAL, SLOTS };

static double l2p_work(const struct l2p_argument *a) {
  return a->walked->interactions ? a->targets->count : 1;
}

/** The unit of accelerations by expansions. */
static float factor_of(const struct short_range *s) {
  return s->factor * s->split.unit * s->split.unit;
}

/** A task on a core in parts, which are subtrees. */
struct l2p_parts {
  const struct l2p_argument *a;
  void **buffers;
  unsigned level; /* of their roots */
};

static void l2p_part(void *context, uint32_t i) {
  const struct l2p_parts *p = context;
  const struct l2p_argument *a = p->a;
  void **buffers = p->buffers;
  a->s->kernels->fmm.l2p(
      a->s->order, a->targets->count, a->targets->depth, targets_first(a->targets, buffers[FIRST]),
      (1u << p->level) + i, expansion_scale(a->s), factor_of(a->s),
      VECTOR(const uint32_t, buffers[POSITION]), VECTOR(const struct node, buffers[TREE]),
      VECTOR(const float, buffers[LOCAL]), VECTOR(float, buffers[ACCELERATION]));
}

static void l2p_cpu(void *buffers[], const struct l2p_argument *a) {
  if (a->walked->interactions == 0) return;
  struct l2p_parts p = {a, buffers, subtree_level(a->targets->count, a->targets->depth)};
  parts_run(1u << p.level, l2p_part, &p);
}

static void l2p_gpu(struct gpu *gpu, void *buffers[], const struct l2p_argument *a) {
  if (a->walked->interactions == 0) return;
  gpu_l2p(gpu, a->s->order, a->targets->count, a->targets->depth,
          targets_first(a->targets, buffers[FIRST]), expansion_scale(a->s), factor_of(a->s),
          VECTOR(const uint32_t, buffers[POSITION]), VECTOR(const struct node, buffers[TREE]),
          VECTOR(const float, buffers[LOCAL]), VECTOR(float, buffers[ACCELERATION]));
}

STAGE(l2p, 0x55bbaa, "m2l");

void l2p_submit(struct short_range *s, struct group *g) {
  const struct group_expansions *e = expansions_of(s, g);
  const struct starpu_data_descr data[SLOTS] = {
      [ACCELERATION] = {e->targets.acceleration, STARPU_RW},
      [POSITION] = {e->targets.position, STARPU_R},
      [TREE] = {e->targets.tree, STARPU_R},
      [FIRST] = targets_slot(&e->targets),
      [LOCAL] = {e->local, STARPU_R}};
  l2p_insert(
      (struct l2p_argument){s, &e->lists.walked, &e->targets},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOW, .owner = &g->index});
}
