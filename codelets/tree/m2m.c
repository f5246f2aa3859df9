/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m: multipoles of a group's inner nodes from those of their children.
 *
 * reads   the tree
 * updates the multipoles */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/debug_check.h"
#include "photons/runtime/message.h"
#include "photons/tree/codelets.h"
#include <math.h>

struct m2m_argument {
  const struct short_range *s;
  uint32_t count;
};
enum { TREE, MULTIPOLE, SLOTS };

static double m2m_work(const struct m2m_argument *a) { return tree_nodes(a->s->domain->depth); }

static void m2m_cpu(void *buffers[], const struct m2m_argument *a) {
  const struct domain *d = a->s->domain;
  a->s->kernels->fmm.m2m(a->s->order, d->depth, expansion_scale(a->s),
                         VECTOR(const struct node, buffers[TREE]),
                         VECTOR(float, buffers[MULTIPOLE]));
  const uint32_t root = fmm_multipole_size(a->s->order);
  const float monopole = VECTOR(float, buffers[MULTIPOLE])[root];
  DEBUG_CHECK(particles_have(&d->particles, COLUMN_relative_mass) ||
                  fabsf(monopole - (float)a->count) <= 1e-6f * (float)a->count,
              "the root has %g for %u particles", (double)monopole, a->count);
}

static void m2m_gpu(struct gpu *gpu, void *buffers[], const struct m2m_argument *a) {
  const struct domain *d = a->s->domain;
  gpu_m2m(gpu, a->s->order, d->depth, expansion_scale(a->s),
          VECTOR(const struct node, buffers[TREE]), VECTOR(float, buffers[MULTIPOLE]));
}

STAGE(m2m, 0x66aadd, NULL);

void m2m_submit(struct short_range *s, struct group *g) {
  const struct starpu_data_descr data[SLOTS] = {
      [TREE] = {g->tree, STARPU_R}, [MULTIPOLE] = {expansions_of(s, g)->multipole, STARPU_RW}};
  m2m_insert(
      (struct m2m_argument){s, g->count},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_MIDDLE, .owner = &g->index});
}

void multipoles_transfer(struct short_range *s) {
  const struct ghosts *both[] = {&s->domain->sent, &s->domain->received};
  const int me = comm_rank();
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < both[k]->count; i++) {
      const struct ghost *ghost = &both[k]->ghost[i];
      const struct group *g = group_known(s->domain, ghost->group);
      const bool sent = g->owner == me;
      message_transfer(multipole_of(s, g), MESSAGE_MULTIPOLE, g->index, sent ? me : ghost->rank,
                       sent ? ghost->rank : me, PRIORITY_HIGH);
    }
}
