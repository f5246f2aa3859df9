/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m: multipoles of a group's inner nodes from those of their children.
 *
 * reads   the tree
 * updates the multipoles */
#include "codelets/runtime/task.h"
#include "cuda/tree/gpu_tree.h"
#include "photons/base/debug_check.h"
#include "photons/domain/codelets.h"
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
