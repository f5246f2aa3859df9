/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step as a task graph: one line a stage. Data dependencies order the stages; mesh and tree meet only in the acceleration, which
 * p2p writes and l2p and pm_read add to, always in this order, so that sums do not depend on who computes them. */
#include "photons/step.h"

#include <math.h>

#include "photons/codelets.h"

#define FOR_GROUPS(s, g) for (struct group *g = (s)->groups; g < (s)->groups + (s)->group_count; g++)

static void submit_mesh(struct simulation *s) {
  const struct mesh *m = s->mesh;
  for (uint32_t set = 0; set < s->sets; set++) {
    FOR_GROUPS(s, g) pm_assign_submit(g, set);
    for (uint32_t slab = 0; slab < m->slabs; slab++) patch_add_submit(s, set, slab);
    for (uint32_t slab = 0; slab < m->slabs; slab++) fft_yz_submit(s, set, slab);
  }
  for (uint32_t column = 0; column < m->columns; column++) fft_x_submit(s, column);
  for (uint32_t set = 0; set < s->sets; set++)
    for (uint32_t field = 0; field < m->fields; field++)
      for (uint32_t slab = 0; slab < m->slabs; slab++) ifft_yz_submit(s, set, field, slab);
}

static void submit_tree(struct simulation *s) {
  FOR_GROUPS(s, g) {
    p2m_submit(g);
    m2m_submit(g);
  }
  FOR_GROUPS(s, g) {
    walk_submit(g);
    p2p_submit(g);
    m2l_submit(g);
    l2l_submit(g);
    l2p_submit(g);
  }
}

void step_forces(struct simulation *s, double kick) {
  simulation_acquire_trees(s);
  domain_find_neighbours(s);
  simulation_release_trees(s);
  simulation_place_patches(s);
  submit_mesh(s);
  submit_tree(s);
  for (uint32_t set = 0; set < s->sets; set++) FOR_GROUPS(s, g) pm_read_submit(g, set);
  FOR_GROUPS(s, g) kick_submit(g, (float)kick);
  starpu_task_wait_for_all();
}

void step_drift(struct simulation *s, double kick, double drift) {
  FOR_GROUPS(s, g) {
    kick_submit(g, (float)kick);
    drift_submit(g, (float)drift);
    refit_submit(g);
  }
  starpu_task_wait_for_all();
}

static void refit(struct simulation *s) {
  FOR_GROUPS(s, g) refit_submit(g);
  starpu_task_wait_for_all();
}

void step_rebuild(struct simulation *s) {
  simulation_acquire(s);
  domain_rebuild(s);
  simulation_release(s);
  refit(s);
}

void step_first_forces(struct simulation *s) {
  step_rebuild(s);
  step_forces(s, 0.0);
  if (s->acceptance.kind == MAC_RELATIVE) {
    refit(s);
    step_forces(s, 0.0);
  }
}

void step_measure(struct simulation *s) {
  FOR_GROUPS(s, g) kick_submit(g, 0.0f);
  starpu_task_wait_for_all();
}

double step_acc_max(const struct simulation *s) {
  double largest = 0.0;
  FOR_GROUPS(s, g) largest = fmax(largest, (double)g->acc_max);
  return largest;
}
