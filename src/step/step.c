/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Global steps: kicks, drifts and forces of all particles together; sorts and rebuilds. */
#include "photons/step/step.h"

#include <math.h>

#include "forces.h"
#include "frame.h"
#include "motion_check.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/domain/codelets.h"
#include "photons/runtime/message.h"
#include "photons/runtime/scheduler.h"
#include "photons/step/codelets.h"
#include "photons/step/light_cone.h"
#include "photons/step/net_force.h"
#include "photons/tree/codelets.h"

static void choose_all(struct nbody *n, struct group *g, void *context) {
  (void)context;
  targets_all(&n->short_range, g, n->rungs != NULL);
}

/** Find the neighbours of groups whose boxes are new, with all their particles as targets or none.
 */
static void find_neighbours(struct nbody *n, bool targets) {
  FOR_GROUPS(&n->domain, g) {
    g->targets = targets ? g->count : 0;
    g->moved = 0.0f;
  }
  frame_follow(n);
  domain_find_neighbours(&n->domain);
}

/* Expansions replace at least this many pairs each time they are used. They are worth their time where
 * they replaced more than this share of all pairs in the last forces on all particles. Runs on GPUs use
 * them only then, and in every so many steps to find out. */
#define PAIRS_REPLACED 4096.0
#define SHARE_WORTHWHILE 0.1
enum { TRIAL_INTERVAL = 16 };

/** The same on all ranks, with GPUs or without. */
static bool wants_expansions(const struct nbody *n) {
  if (n->mesh_alone) return false;
  return !nbody_has_mesh(n) || !scheduler_any_gpu() || n->steps.expansions ||
         n->step % TRIAL_INTERVAL == 0;
}

/** Find out whether expansions pay, after forces that used them. Collective. */
static void judge_expansions(struct nbody *n) {
  const struct work_counts last = short_range_work(&n->short_range);
  n->steps.expansions = PAIRS_REPLACED * (double)last.interactions >
                        SHARE_WORTHWHILE * (double)last.pairs;
}

/** Whether forces on all particles are those by themselves, and by nothing else. */
static bool moves_itself(const struct nbody *n) {
  return !nbody_has_mesh(n) && n->parameters->external.self_gravity;
}

void step_all_forces(struct nbody *n, void (*close)(struct nbody *, const void *), const void *kick,
                     void (*meanwhile)(void *), void *context) {
  const bool expansions = wants_expansions(n);
  short_range_expansions(&n->short_range, expansions);
  find_neighbours(n, !n->mesh_alone);
  forces_submit(n, nbody_has_mesh(n), choose_all, NULL);
  if (moves_itself(n)) {
    if (meanwhile) meanwhile(context); /* what follows waits for the forces */
    meanwhile = NULL;
    net_force_remove(n);
  }
  forces_submit_external(n);
  close(n, kick);
  FOR_GROUPS(&n->domain, g) {
    if (g->targets > 0) targets_release(&n->short_range, g);
  }
  if (meanwhile) meanwhile(context);
  message_wait();
  motion_check(n, 0.0);
  if (expansions) judge_expansions(n);
  if (DEBUG_CHECKS && nbody_has_mesh(n)) long_range_check_mass(&n->long_range);
  if (nbody_rests(n)) long_range_rest(&n->long_range);
}

static void close_step(struct nbody *n, const void *kick) {
  FOR_GROUPS(&n->domain, g) kick_submit(n, g, *(const struct kick *)kick);
}

void step_forces(struct nbody *n, double kick, void (*meanwhile)(void *), void *context) {
  DEBUG_CHECK(!n->rungs, "a global step of %s", "block time steps");
  step_all_forces(n, close_step, &(const struct kick){.push = (float)kick}, meanwhile, context);
}

void step_kick(struct nbody *n, struct kick kick) {
  DEBUG_CHECK(!n->rungs, "a global step of %s", "block time steps");
  step_all_forces(n, close_step, &kick, NULL, NULL);
}

/** Make room for a drift after the kicks that were submitted. */
static void follow_drift(struct nbody *n, double drift) {
  message_wait();
  motion_check(n, 0.0);
  FOR_GROUPS(&n->domain, g)
  g->moved = (float)(drift * (double)g->largest.momentum / n->domain.geometry.r_cut);
  frame_follow(n);
}

/** Drifts need to know how far particles go. */
static bool is_bounded(const struct nbody *n) { return !nbody_has_mesh(n) || n->cone; }

static void move_group(struct nbody *n, struct group *g, double from, double to, double drift) {
  if (n->cone) light_cone_submit(n, g, from, to, (float)drift);
  move_submit(n, g, (float)drift);
}

void step_drift(struct nbody *n, double kick, double drift) {
  const bool bounded = is_bounded(n);
  const struct kick open = {.push = (float)kick};
  const double from = n->cone ? n->cone->a0 : 0.0, to = n->cone ? n->cone->a1 : 0.0;
  if (bounded) {
    FOR_GROUPS(&n->domain, g) kick_submit(n, g, open);
    follow_drift(n, drift);
  }
  FOR_GROUPS(&n->domain, g) {
    if (!bounded) kick_submit(n, g, open);
    move_group(n, g, from, to, drift);
  }
  message_wait();
  motion_check(n, drift);
}

void step_move(struct nbody *n, double from, double to, double drift, bool boxes) {
  if (is_bounded(n)) follow_drift(n, drift);
  FOR_GROUPS(&n->domain, g) {
    if (boxes || n->cone)
      move_group(n, g, from, to, drift);
    else
      drift_submit(n, g, (float)drift);
  }
  message_wait();
  motion_check(n, drift);
}

void step_rebuild(struct nbody *n) {
  domain_rebuild(&n->domain);
  step_refit(n);
}

void step_sort(struct nbody *n) {
  FOR_GROUPS(&n->domain, g) {
    sort_submit(&n->domain, g);
    refit_submit(&n->short_range, g);
  }
  message_wait();
}

/** With block time steps the long-range part has a column of its own: a kick adds it up. */
static void add_up(struct nbody *n, const void *kick) {
  FOR_GROUPS(&n->domain, g) kick_rungs_submit(n, g, kick);
}

void step_forces_anew(struct nbody *n) {
  n->steps.expansions = true; /* to find out whether they pay */
  if (n->rungs)
    step_all_forces(n, add_up, &(const struct rung_kick){0}, NULL, NULL);
  else
    step_forces(n, 0.0, NULL, NULL);
}

void step_first_forces(struct nbody *n) {
  step_refit(n);
  step_forces_anew(n);
  if (n->short_range.acceptance.kind != MAC_GEOMETRIC && !n->mesh_alone) {
    step_refit(n);
    step_forces_anew(n);
  }
}

/** Long-range forces alone: no group has targets. */
static void measure_mesh(struct nbody *n) {
  step_refit(n);
  find_neighbours(n, false);
  forces_submit(n, true, choose_all, NULL);
  message_wait();
  if (nbody_rests(n)) long_range_rest(&n->long_range);
}

void step_measure(struct nbody *n) {
  if (n->rungs && nbody_has_mesh(n)) measure_mesh(n);
  if (!nbody_has_mesh(n)) step_refit(n); /* the frame follows the boxes of groups */
  FOR_GROUPS(&n->domain, g) kick_submit(n, g, (struct kick){0});
  message_wait();
  motion_check(n, 0.0);
}

void step_begin_drift(struct nbody *n) {
  step_refit(n);
  step_measure(n);
}

double step_acc_max(const struct nbody *n) {
  double largest = 0.0;
  FOR_GROUPS(&n->domain, g) largest = fmax(largest, (double)g->largest.acceleration);
  comm_max_double(&largest, 1);
  return largest;
}
