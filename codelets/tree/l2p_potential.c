/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2p_potential: the potential of a group's particles from the local expansions. Does nothing if
 * the far list is empty.
 *
 * reads  positions and tree of the group, the local expansions
 * writes L_0
 * adds to the potential */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/runtime/handle.h"
#include "photons/tree/codelets.h"

struct l2p_potential_argument {
  const struct short_range *s;
  const struct walk_result *walked;
  uint32_t count;
};
enum { POTENTIAL, CONSTANT, POSITION, TREE, LOCAL, SLOTS };

static double l2p_potential_work(const struct l2p_potential_argument *a) {
  return a->walked->interactions ? a->count : 1;
}

static void l2p_potential_cpu(void *buffers[], const struct l2p_potential_argument *a) {
  const struct domain *d = a->s->domain;
  if (a->walked->interactions == 0) return;
  a->s->kernels->fmm.l2p_potential(
      a->s->order, a->count, d->depth, expansion_scale(a->s), a->s->split.unit,
      VECTOR(const uint32_t, buffers[POSITION]), VECTOR(const struct node, buffers[TREE]),
      VECTOR(const float, buffers[LOCAL]), VECTOR(float, buffers[CONSTANT]),
      VECTOR(float, buffers[POTENTIAL]));
}

static void l2p_potential_gpu(struct gpu *gpu, void *buffers[],
                              const struct l2p_potential_argument *a) {
  const struct domain *d = a->s->domain;
  if (a->walked->interactions == 0) return;
  gpu_l2p_potential(gpu, a->s->order, a->count, d->depth, expansion_scale(a->s), a->s->split.unit,
                    VECTOR(const uint32_t, buffers[POSITION]),
                    VECTOR(const struct node, buffers[TREE]), VECTOR(const float, buffers[LOCAL]),
                    VECTOR(float, buffers[CONSTANT]), VECTOR(float, buffers[POTENTIAL]));
}

STAGE(l2p_potential, 0x77ddcc, NULL);

void l2p_potential_submit(struct short_range *s, struct group *g) {
  struct group_expansions *e = expansions_of(s, g);
  const struct starpu_data_descr data[SLOTS] = {[POTENTIAL] = {e->potential, STARPU_RW},
                                                [CONSTANT] = {e->constant, STARPU_RW},
                                                [POSITION] = {g->column[COLUMN_position], STARPU_R},
                                                [TREE] = {g->tree, STARPU_R},
                                                [LOCAL] = {e->local, STARPU_R}};
  l2p_potential_insert(
      (struct l2p_potential_argument){s, &e->lists.walked, g->count},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOW, .owner = &g->index});
  handle_release(&e->constant);
}
