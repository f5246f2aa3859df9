/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step as a task graph: one line a stage. Each process submits the tasks of its own groups, slabs and columns, and the messages
 * that bring them what others make. Data dependencies order the stages; mesh and tree meet only in the acceleration, which
 * p2p writes and l2p and pm_read add to, always in this order, so that sums do not depend on who computes them. */
#include "photons/step/step.h"

#include <math.h>

#include "photons/runtime/codelets.h"
#include "photons/base/comm.h"

/* Groups, slabs and columns of this process. */
#define FOR_GROUPS(s, g)                                                    \
  for (struct group *g = (s)->groups + group_first((s), comm_rank()),       \
                    *end = (s)->groups + group_first((s), comm_rank() + 1); \
       g < end; g++)
#define FOR_SLABS(s, slab)                                 \
  for (uint32_t slab = 0; slab < (s)->mesh->slabs; slab++) \
    if (slab_owner((s), slab) == comm_rank())
#define FOR_COLUMNS(s, column)                                     \
  for (uint32_t column = 0; column < (s)->mesh->columns; column++) \
    if (column_owner((s), column) == comm_rank())

static void submit_mesh(struct simulation *s) {
  const struct mesh *m = s->mesh;
  for (uint32_t set = 0; set < s->sets; set++) {
    FOR_GROUPS(s, g) {
      pm_assign_submit(g, set);
      for (uint32_t k = 0; k < g->sent.count; k++) patch_cut_submit(g, k, set);
    }
    share_patches(s, set);
    FOR_SLABS(s, slab) patch_add_submit(s, set, slab);
    FOR_SLABS(s, slab) fft_yz_submit(s, set, slab);
  }
  share_spectra(s, false);
  FOR_COLUMNS(s, column) fft_x_submit(s, column);
  share_spectra(s, true);
  for (uint32_t set = 0; set < s->sets; set++)
    for (uint32_t field = 0; field < m->fields; field++) FOR_SLABS(s, slab) ifft_yz_submit(s, set, field, slab);
  for (struct group *g = s->groups; g < s->groups + s->group_count; g++)
    for (uint32_t k = 0; k < g->read.count; k++)
      for (uint32_t set = 0; set < s->sets && g->read.piece[k].process == comm_rank(); set++) pm_cut_submit(g, k, set);
  share_pieces(s);
}

/** With default accuracy hardly any pair of nodes goes by expansions. Where the host knows a group's lists to be empty, because a GPU counted
 * them and will fill them (which other schedulers than heteroprio may leave to a core, whose rounding differs), it saves the tasks. */
static bool far_wanted(const struct group *g) {
  const struct simulation *s = g->simulation;
  return !s->gpu || !s->heteroprio || !g->walked_by_gpu || g->walked.interactions > 0;
}

/** Any group's expansions, on any process. */
static bool any_far_wanted(struct simulation *s) {
  uint32_t any = 0;
  FOR_GROUPS(s, g) any |= far_wanted(g);
  comm_max_u32(&any, 1);
  return any;
}

/** Neighbours are mutual: who reads a group's multipoles is among its own. Of those on other processes nothing is known. */
static bool multipoles_wanted(const struct group *g) {
  if (comm_size() > 1) return true;
  for (uint32_t k = 0; k < g->neighbours; k++)
    if (far_wanted(&g->simulation->groups[g->neighbour[k]])) return true;
  return false;
}

static bool meets_ghosts(const struct group *g) {
  for (uint32_t k = 0; k < g->neighbours; k++)
    if (g->simulation->groups[g->neighbour[k]].owner != g->owner) return true;
  return false;
}

static void submit_near(struct group *g) {
  walk_fill_submit(g);
  p2p_submit(g);
}

static void submit_tree(struct simulation *s) {
  for (int ghosts = 0; s->gpu && ghosts < 2; ghosts++) /* those first whose walks wait for no other process */
    FOR_GROUPS(s, g) {
      if (meets_ghosts(g) != ghosts) continue;
      walk_wait(g);
      submit_near(g);
    }
  if (any_far_wanted(s)) {
    FOR_GROUPS(s, g) {
      if (!multipoles_wanted(g)) continue;
      p2m_submit(g);
      m2m_submit(g);
    }
    share_multipoles(s);
  }
  FOR_GROUPS(s, g) {
    if (!s->gpu) {
      walk_submit(g);
      submit_near(g);
    }
    if (far_wanted(g)) {
      m2l_submit(g);
      l2l_submit(g);
      l2p_submit(g);
    } else {
      m2l_skip(g);
    }
  }
}

void step_forces(struct simulation *s, double kick, void (*meanwhile)(void *), void *context) {
  domain_find_neighbours(s);
  simulation_find_ghosts(s);
  simulation_place(s);
  message_begin();
  for (uint32_t i = 0; i < s->sent.count; i++) ghost_cut_submit(s, i);
  share_trees(s);
  for (uint32_t i = 0; i < s->received.count; i++) ghost_paste_submit(s, i);
  if (s->gpu)
    FOR_GROUPS(s, g) walk_submit(g); /* first of all: what follows keeps the GPU busy while the host waits for them */
  submit_mesh(s);
  submit_tree(s);
  for (uint32_t set = 0; set < s->sets; set++) FOR_GROUPS(s, g) pm_read_submit(g, set);
  FOR_GROUPS(s, g) kick_submit(g, (float)kick);
  if (meanwhile) meanwhile(context);
  message_wait();
}

void step_drift(struct simulation *s, double kick, double drift) {
  FOR_GROUPS(s, g) {
    kick_submit(g, (float)kick);
    drift_submit(g, (float)drift);
    refit_submit(g);
  }
  message_wait();
}

static void refit(struct simulation *s) {
  FOR_GROUPS(s, g) refit_submit(g);
  message_wait();
}

void step_rebuild(struct simulation *s) {
  simulation_acquire(s);
  domain_rebuild(s);
  simulation_release(s);
  refit(s);
}

void step_sort(struct simulation *s) {
  FOR_GROUPS(s, g) {
    sort_submit(g);
    refit_submit(g);
  }
  message_wait();
}

void step_first_forces(struct simulation *s) {
  refit(s);
  step_forces(s, 0.0, NULL, NULL);
  if (s->acceptance.kind == MAC_RELATIVE) {
    refit(s);
    step_forces(s, 0.0, NULL, NULL);
  }
}

void step_measure(struct simulation *s) {
  FOR_GROUPS(s, g) kick_submit(g, 0.0f);
  message_wait();
}

double step_acc_max(const struct simulation *s) {
  double largest = 0.0;
  FOR_GROUPS(s, g) largest = fmax(largest, (double)g->acc_max);
  comm_max_double(&largest, 1);
  return largest;
}
