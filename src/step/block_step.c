/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block time steps. */
#include "photons/step/block_step.h"

#include <float.h>
#include <math.h>

#include "forces.h"
#include "motion_check.h"
#include "photons/base/comm.h"
#include "photons/runtime/message.h"
#include "photons/step/codelets.h"
#include "photons/step/step.h"
#include "photons/step/timeline.h"
#include "photons/tree/codelets.h"

#define BASE_TICKS (1u << RUNG_MOST)

/** Expansions replace at least this many pairs each time they are used. In sub-steps they are used only
 * where they replaced more than this share of all pairs in the last forces on all particles: what
 * makes the multipoles of all groups costs more than the few pairs of few active particles. */
#define PAIRS_REPLACED 4096.0
#define SHARE_WORTHWHILE 0.1

static double scale_factor(const struct base_step *b, double tick) {
  return b->a0 * exp(log(b->a1 / b->a0) * (tick / BASE_TICKS));
}

static double kick(const struct base_step *b, double from, double to) {
  return cosmology_kick(b->cosmology, scale_factor(b, from), scale_factor(b, to));
}

/** The coarsest rung whose steps begin and end at a tick. */
static uint8_t top_rung(uint32_t tick) {
  return tick == 0 ? 0 : (uint8_t)(RUNG_MOST - __builtin_ctz(tick));
}

/** The deepest rung whose steps are not shorter than time.min_dlna. */
static uint8_t deepest_allowed(const struct base_step *b) {
  const double dlna = log(b->a1 / b->a0), least = b->parameters->time.min_dlna;
  uint8_t rung = 0;
  while (rung < RUNG_MOST && ldexp(dlna, -(rung + 1)) >= least) rung++;
  return rung;
}

/** The criterion of timeline_adaptive_dlna(), solved for the acceleration. */
static void set_limits(const struct base_step *b, struct rung_kick *k) {
  const double a = scale_factor(b, b->tick), dlna = log(b->a1 / b->a0);
  const double one = timeline_adaptive_limit(b->parameters, b->cosmology, a, dlna);
  for (int rung = 0; rung < RUNGS; rung++)
    k->limit[rung] = (float)fmin(pow(ldexp(one, 2 * rung), 2.0), (double)FLT_MAX);
}

/** A kick at the present tick of particles of rung `top` and deeper. */
static struct rung_kick kick_at(const struct base_step *b, uint8_t top, bool close, bool open) {
  struct rung_kick k = {
      .top = top, .deepest = deepest_allowed(b), .choose = open, .any = b->tick == 0};
  if (k.deepest < top) k.deepest = top;
  for (uint8_t rung = top; rung < RUNGS; rung++) {
    const double half = 0.5 * rung_ticks(rung);
    if (close && rung <= k.deepest) k.close[rung] = (float)kick(b, b->tick - half, b->tick);
    if (open && rung <= k.deepest) k.open[rung] = (float)kick(b, b->tick, b->tick + half);
  }
  if (open) set_limits(b, &k);
  return k;
}

static void sum_rungs(const struct nbody *n, uint64_t particles[RUNGS]) {
  for (int k = 0; k < RUNGS; k++) particles[k] = 0;
  FOR_GROUPS(&n->domain, g)
  for (int k = 0; k < RUNGS; k++) particles[k] += n->rungs[g->index].particles[k];
}

void block_rungs(const struct nbody *n, uint64_t particles[RUNGS]) {
  sum_rungs(n, particles);
  comm_sum_u64(particles, RUNGS);
}

/** The deepest rung of any rank that has particles. */
static uint8_t deepest_occupied(const struct nbody *n) {
  uint64_t particles[RUNGS];
  sum_rungs(n, particles);
  uint32_t deepest = RUNG_MOST;
  while (deepest > 0 && particles[deepest] == 0) deepest--;
  comm_max_u32(&deepest, 1);
  return (uint8_t)deepest;
}

struct base_step block_open(struct nbody *n, const struct parameters *p, const struct cosmology *c,
                            double a0, double a1) {
  struct base_step b = {.parameters = p, .cosmology = c, .a0 = a0, .a1 = a1};
  struct rung_kick k = kick_at(&b, 0, false, true);
  k.mesh = (float)kick(&b, 0.0, 0.5 * BASE_TICKS);
  k.total = true;
  FOR_GROUPS(&n->domain, g) {
    targets_all(&n->short_range, g);
    kick_rungs_submit(n, g, &k);
  }
  message_wait();
  motion_check(n, 0.0);
  return b;
}

/** Drift all particles to a tick, and refit the trees. */
static void drift_to(struct nbody *n, struct base_step *b, uint32_t tick) {
  const double factor = cosmology_drift(b->cosmology, scale_factor(b, b->tick),
                                        scale_factor(b, tick));
  b->tick = tick;
  n->a = scale_factor(b, tick);
  FOR_GROUPS(&n->domain, g) {
    drift_submit(n, g, (float)factor);
    refit_submit(&n->short_range, g);
  }
  message_wait();
  motion_check(n, factor);
}

/** Particles of rung `top` and deeper. */
static uint32_t active_of(const struct nbody *n, const struct group *g, uint8_t top) {
  uint32_t active = 0;
  for (int k = top; k < RUNGS; k++) active += n->rungs[g->index].particles[k];
  return active;
}

static void choose_active(struct nbody *n, struct group *g, void *top) {
  targets_pack(&n->short_range, g, *(const uint8_t *)top, g->targets);
}

static void account(const struct nbody *n, struct base_step *b, uint8_t top) {
  uint64_t active = 0;
  FOR_GROUPS(&n->domain, g) active += g->targets;
  comm_sum_u64(&active, 1);
  b->last = short_range_work(&n->short_range);
  b->sub_steps++;
  b->particles[top] += active;
  b->pairs[top] += b->last.pairs;
  b->work.pairs += b->last.pairs;
  b->work.interactions += b->last.interactions;
  b->work.visits += b->last.visits;
}

static void kick_active(struct nbody *n, struct base_step *b, uint8_t top) {
  const struct rung_kick k = kick_at(b, top, true, true);
  FOR_GROUPS(&n->domain, g) g->targets = active_of(n, g, top);
  forces_submit(n, false, choose_active, &top);
  FOR_GROUPS(&n->domain, g)
  if (g->targets > 0) {
    kick_rungs_submit(n, g, &k);
    targets_release(&expansions_of(&n->short_range, g)->targets);
  }
  message_wait();
  motion_check(n, 0.0);
  account(n, b, top);
}

bool block_advance(struct nbody *n, struct base_step *b) {
  const uint32_t step = rung_ticks(deepest_occupied(n)), next = (b->tick / step + 1) * step;
  drift_to(n, b, next);
  if (next == BASE_TICKS) return false;
  kick_active(n, b, top_rung(next));
  return true;
}

static void close_base(struct nbody *n, struct group *g, const void *kick) {
  kick_rungs_submit(n, g, kick);
}

void block_close(struct nbody *n, struct base_step *b, void (*meanwhile)(void *), void *context) {
  struct rung_kick k = kick_at(b, 0, true, false);
  k.mesh = (float)kick(b, 0.5 * BASE_TICKS, BASE_TICKS);
  short_range_expansions(&n->short_range, true);
  step_all_forces(n, close_base, &k, meanwhile, context);
  account(n, b, 0);
  const double replaced = PAIRS_REPLACED * (double)b->last.interactions;
  short_range_expansions(&n->short_range, replaced > SHARE_WORTHWHILE * (double)b->last.pairs);
}
