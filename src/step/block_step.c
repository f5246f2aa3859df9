/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block time steps. */
#include "photons/step/block_step.h"

#include <float.h>
#include <math.h>

#include "forces.h"
#include "frame.h"
#include "motion_check.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/domain/codelets.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/message.h"
#include "photons/runtime/scheduler.h"
#include "photons/step/codelets.h"
#include "photons/step/light_cone.h"
#include "photons/step/step.h"
#include "photons/step/timeline.h"
#include "photons/tree/codelets.h"
#include "rung_kicks.h"

/** Base steps whose lengths differ by less, in powers of 2, have the same rungs. */
#define SAME_LENGTH 1e-3
/** More than floats round off. */
#define ROUNDING 1.0001
#define BASE_TICKS (1u << RUNG_MOST)

/** The base step, in ln a or in time. */
static double length_of(const struct base_step *b) {
  return moment_interval(b->cosmology->isolated, b->a0, b->a1);
}

static double scale_factor(const struct base_step *b, double tick) {
  return moment_after(b->cosmology->isolated, b->a0, length_of(b) * (tick / BASE_TICKS));
}

static double kick(const struct base_step *b, double from, double to) {
  return cosmology_kick(b->cosmology, scale_factor(b, from), scale_factor(b, to));
}

static bool growth_kicks(const struct base_step *b) {
  return b->parameters->time.kicks == KICKS_GROWTH && !b->cosmology->isolated;
}

/** Whether rungs follow the rates of pairs. */
static bool by_pairs(const struct base_step *b) {
  return b->parameters->time.criterion == CRITERION_PAIRS;
}

/** Of a step from tick to tick. */
static struct kick_factors kicks(const struct base_step *b, double from, double to) {
  const double middle = 0.5 * (from + to);
  if (growth_kicks(b))
    return cosmology_growth_kicks(b->cosmology, scale_factor(b, from), scale_factor(b, to));
  return (struct kick_factors){kick(b, from, middle), kick(b, middle, to)};
}

/** Of the force of the mesh at the present tick, which ends its step and begins the next one. */
static double mesh_kick(const struct base_step *b, bool close, bool open) {
  const double ticks = b->mesh_ticks;
  if (close && open && !growth_kicks(b))
    return kick(b, b->tick - 0.5 * ticks, b->tick + 0.5 * ticks);
  return (close ? kicks(b, b->tick - ticks, b->tick).close : 0.0) +
         (open ? kicks(b, b->tick, b->tick + ticks).open : 0.0);
}

/** The coarsest rung whose steps begin and end at a tick. */
static uint8_t top_rung(uint32_t tick) {
  return tick == 0 ? 0 : (uint8_t)(RUNG_MOST - __builtin_ctz(tick));
}

/** The deepest rung whose steps are not shorter than timeline_shortest(). */
static uint8_t deepest_allowed(const struct base_step *b) {
  const double dlna = length_of(b), least = timeline_shortest(b->parameters);
  uint8_t rung = 0;
  while (rung < RUNG_MOST && ldexp(dlna, -(rung + 1)) >= least) rung++;
  return rung;
}

/** The criteria of timeline_adaptive_dlna() and timeline_tide_limit(), solved for the acceleration
 * and the tide. */
static void set_limits(const struct base_step *b, struct rung_kick *k) {
  const double a = scale_factor(b, b->tick), dlna = length_of(b);
  const double one = timeline_adaptive_limit(b->parameters, b->cosmology, a, dlna);
  for (int rung = 0; rung < RUNGS; rung++)
    k->limit[rung] = (float)fmin(pow(ldexp(one, 2 * rung), 2.0), (double)FLT_MAX);
  const double tide = b->r_cut * timeline_tide_limit(b->parameters, b->cosmology, a, dlna);
  for (int rung = 0; rung < RUNGS; rung++)
    k->tide[rung] = (float)fmin(ldexp(tide, 2 * rung), (double)FLT_MAX);
  k->gothic = b->parameters->time.criterion == CRITERION_GOTHIC;
  const double speed = timeline_speed_limit(b->parameters, b->cosmology, a, dlna);
  for (int rung = 0; rung < RUNGS; rung++)
    k->speed[rung] = (float)fmin(pow(ldexp(speed, rung), 2.0), (double)FLT_MAX);
  k->pair_step = dlna / cosmology_hubble(b->cosmology, a);
  k->eta_pair = b->parameters->time.eta_pair;
}

/** A kick at the present tick of particles of rung `top` and deeper: the factors that close their
 * steps, or open steps of the rungs that may follow; and the limits of rungs. */
static struct rung_kick kick_at(const struct base_step *b, uint8_t top, bool close, bool open) {
  struct rung_kick k = {.top = top, .deepest = deepest_allowed(b)};
  if (k.deepest < top) k.deepest = top;
  for (uint8_t rung = top; rung <= k.deepest; rung++) {
    const double ticks = rung_ticks(rung);
    if (close) k.close[rung] = (float)kicks(b, b->tick - ticks, b->tick).close;
    if (open) k.open[rung] = (float)kicks(b, b->tick, b->tick + ticks).open;
  }
  set_limits(b, &k);
  return k;
}

static void sum_rungs(const struct nbody *n, uint64_t particles[RUNGS]) {
  for (int k = 0; k < RUNGS; k++) particles[k] = 0;
  FOR_GROUPS(&n->domain, g)
  for (int k = 0; k < RUNGS; k++) particles[k] += rungs_of(n, g)->particles[k];
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

/** After kicks: no particle of a group is faster than the fastest one kicked, or the fastest
 * before. */
static void note_fastest(struct nbody *n, bool all) {
  FOR_GROUPS(&n->domain, g) {
    struct group_rungs *r = rungs_of(n, g);
    if (g->targets == 0) continue;
    r->fastest = all ? g->largest.momentum : fmaxf(r->fastest, g->largest.momentum);
  }
}

static void kick_all(struct nbody *n, const void *kick) { rung_kicks_submit(n, kick); }

/** All forces, with kicks of all particles after them. */
static void force_and_kick(struct nbody *n, const struct base_step *b, const struct rung_kick *k,
                           void (*meanwhile)(void *), void *context) {
  n->short_range.keep_near = by_pairs(b);
  step_all_forces(n, kick_all, k, meanwhile, context);
  n->short_range.keep_near = false;
}

/** Kick all particles by the forces that they have. */
static void kick_with_present_forces(struct nbody *n, const struct rung_kick *k) {
  FOR_GROUPS(&n->domain, g) {
    g->targets = g->count;
    targets_all(&n->short_range, g, false);
    kick_rungs_submit(n, g, k);
  }
  message_wait();
  motion_check(n, 0.0);
}

struct base_step block_open(struct nbody *n, const struct parameters *p, const struct cosmology *c,
                            double a0, double a1) {
  struct base_step b = {
      .parameters = p, .cosmology = c, .r_cut = n->domain.geometry.r_cut, .a0 = a0, .a1 = a1};
  b.mesh_ticks = BASE_TICKS /
                 mesh_policy_forces(p, c, a0, n->domain.particles.all, nbody_mesh_cells(n));
  struct rung_kick k = kick_at(&b, 0, false, true);
  const bool first = !(n->steps.dlna > 0.0);
  k.mesh = (float)mesh_kick(&b, false, true);
  k.choice = first ? RUNG_BY_ACCELERATION : RUNG_SHIFTS;
  if (!first) k.shift = (int)ceil(log2(length_of(&b) / n->steps.dlna) - SAME_LENGTH);
  n->steps.dlna = length_of(&b);
  FOR_GROUPS(&n->domain, g) rungs_of(n, g)->tick = 0;
  k.total = !(first && by_pairs(&b)); /* rates of pairs come with new forces */
  if (k.total)
    kick_with_present_forces(n, &k);
  else
    force_and_kick(n, &b, &k, NULL, NULL);
  note_fastest(n, true);
  return b;
}

/** Particles of rung `top` and deeper. */
static uint32_t active_of(const struct nbody *n, const struct group *g, uint8_t top) {
  uint32_t active = 0;
  for (int k = top; k < RUNGS; k++) active += rungs_of(n, g)->particles[k];
  return active;
}

/** The integral of dt/a^2 since a group was drifted. */
static double drift_due(const struct nbody *n, const struct base_step *b, const struct group *g) {
  const uint32_t from = rungs_of(n, g)->tick;
  if (from == b->tick) return 0.0;
  return cosmology_drift(b->cosmology, scale_factor(b, from), scale_factor(b, b->tick));
}

/** The scale factor at a tick. At the end of the base step it is that of the next one's beginning to the
 * last bit, as light cones need it. */
static double exact_scale_factor(const struct base_step *b, uint32_t tick) {
  return tick == BASE_TICKS ? b->a1 : scale_factor(b, tick);
}

/** Submit the drift of a group to the present tick, and the refit. */
static void drift_now(struct nbody *n, const struct base_step *b, struct group *g) {
  const double due = drift_due(n, b, g);
  const uint32_t from = rungs_of(n, g)->tick;
  rungs_of(n, g)->tick = b->tick;
  if (!(due > 0.0)) return;
  light_cone_submit(n, g, exact_scale_factor(b, from), exact_scale_factor(b, b->tick), (float)due);
  move_submit(n, g, (float)due);
}

/** Whether the mesh acts at the present tick. */
static bool mesh_due(const struct base_step *b) { return b->tick % b->mesh_ticks == 0; }

/** Submit the drift to the present tick, and the refit, of groups with active particles and all
 * that may be in their reach; of all groups where the mesh acts. The others wait. Which ones wait
 * does not depend on the number of ranks or workers. */
static void drift_wanted(struct nbody *n, const struct base_step *b) {
  const double reach = n->domain.geometry.r_cut;
  double longest = 0.0;
  FOR_GROUPS(&n->domain, g) {
    const double due = drift_due(n, b, g);
    g->moved = (float)(due * (double)rungs_of(n, g)->fastest / reach * ROUNDING);
    g->largest.momentum = rungs_of(n, g)->fastest; /* kicks saw active particles alone */
    longest = fmax(longest, due);
  }
  frame_follow(n);
  motion_check(n, longest);
  const bool mesh = mesh_due(b), all = mesh || n->domain.sources_later;
  if (!n->domain.sources_later) domain_find_neighbours(&n->domain);
  FOR_GROUPS(&n->domain, g) {
    if (all || domain_source_wanted(g)) drift_now(n, b, g);
  }
  /* Other ranks, the mesh and nodes above groups need the new boxes now; else no one waits for them. */
  if (comm_size() > 1 || mesh || (all && !forces_wait_for_boxes(n))) message_wait();
}

static void choose_active(struct nbody *n, struct group *g, void *top) {
  targets_pack(&n->short_range, g, *(const uint8_t *)top, g->targets);
}

/** The targets of all ranks. */
static uint64_t count_targets(const struct nbody *n) {
  uint64_t active = 0;
  FOR_GROUPS(&n->domain, g) active += g->targets;
  comm_sum_u64(&active, 1);
  return active;
}

static void account(const struct nbody *n, struct base_step *b, uint8_t top) {
  const uint64_t active = count_targets(n);
  b->last = short_range_work(&n->short_range);
  b->sub_steps++;
  b->particles[top] += active;
  b->pairs[top] += b->last.pairs;
  b->work.pairs += b->last.pairs;
  b->work.interactions += b->last.interactions;
  b->work.visits += b->last.visits;
  if (b->policy)
    renewal_policy_account(b->policy, &b->fresh, top, &b->last, active, n->domain.particles.all);
}

static void count_rungs_of(void *nbody, uint32_t i) {
  struct nbody *n = nbody;
  const struct particles *p = &n->domain.particles;
  const struct group *g = &n->domain.groups[i];
  const uint8_t *rung = p->rung + particles_block(p, i).first;
  /* Neighbours are often on the same rung: a single table would wait for its last sum. */
  enum { TABLES = 4 };
  uint32_t count[TABLES][RUNGS] = {{0}}, *particles = rungs_of(n, g)->particles;
  for (uint32_t k = 0; k < g->count; k++) count[k % TABLES][rung[k]]++;
  for (int k = 0; k < RUNGS; k++)
    particles[k] = count[0][k] + count[1][k] + count[2][k] + count[3][k];
}

/** Count the particles of each rung: of each group by a worker. */
static void count_rungs(struct nbody *n) {
  FOR_GROUPS(&n->domain, g)
  (void)starpu_data_prefetch_on_node(g->column[COLUMN_rung], STARPU_MAIN_RAM, 1);
  FOR_GROUPS(&n->domain, g) handle_acquire(g->column[COLUMN_rung], STARPU_R);
  loop_run(&rebuild_stage, (uint32_t)n->domain.particles.blocks, count_rungs_of, n);
  FOR_GROUPS(&n->domain, g) starpu_data_release(g->column[COLUMN_rung]);
}

/** Make new groups. In isolated systems all groups have drifted to the present tick, because each is
 * in reach of the active particles. */
static void renew_groups(struct nbody *n, struct base_step *b, uint8_t top) {
  double fastest = 0.0;
  FOR_GROUPS(&n->domain, g) {
    DEBUG_CHECK(rungs_of(n, g)->tick == b->tick, "group %u waits at tick %u of %u", g->index,
                rungs_of(n, g)->tick, b->tick);
    fastest = fmax(fastest, (double)rungs_of(n, g)->fastest);
  }
  comm_max_double(&fastest, 1);
  step_rebuild(n);
  count_rungs(n);
  FOR_GROUPS(&n->domain, g) {
    rungs_of(n, g)->tick = b->tick;
    rungs_of(n, g)->fastest = (float)fastest;
    g->targets = active_of(n, g, top);
    g->moved = 0.0f;
  }
  if (!n->domain.sources_later) domain_find_neighbours(&n->domain);
  b->rebuilds++;
}

/** Sort, or make new groups, where the policy says so. */
static void renew(struct nbody *n, struct base_step *b, uint8_t top) {
  if (!b->policy) return;
  const enum renewal renewal = renewal_policy_choose(b->policy, &b->fresh, top, count_targets(n),
                                                     n->domain.particles.all);
  if (renewal == RENEW_NOTHING) return;
  if (renewal == RENEW_GROUPS) {
    renew_groups(n, b, top);
  } else {
    step_sort(n);
    b->sorts++;
  }
  renewal_policy_done(b->policy, &b->fresh, renewal);
}

/** Inside a base step: kick all particles by the force of the mesh. */
static void kick_by_mesh(struct nbody *n, const struct base_step *b) {
  const struct rung_kick k = {.mesh = (float)mesh_kick(b, true, true), .total = true};
  kick_with_present_forces(n, &k);
  note_fastest(n, true);
}

static void kick_active(struct nbody *n, struct base_step *b, uint8_t top) {
  struct rung_kick k = kick_at(b, top, true, true);
  const bool mesh = nbody_has_mesh(n) && mesh_due(b);
  k.choice = RUNG_DEEPENS;
  if (mesh || n->domain.sources_later) { /* all groups have new boxes */
    FOR_GROUPS(&n->domain, g) g->moved = 0.0f;
    if (!forces_wait_for_boxes(n)) domain_find_neighbours(&n->domain);
  }
  /* Isolated systems always use expansions: without them a force costs N^2. Elsewhere what makes the multipoles of
   * all groups costs more than the few pairs of few active particles. GPUs never use expansions here: there they
   * took 18 % of the time to replace 1 % of the pairs (512^3 particles in 100 Mpc/h, z = 0.5 to 0.2, one H200). */
  short_range_expansions(&n->short_range,
                         !nbody_has_mesh(n) || (n->steps.expansions && !scheduler_any_gpu()));
  n->short_range.keep_near = by_pairs(b);
  forces_submit(n, mesh, choose_active, &top);
  forces_submit_external(n);
  rung_kicks_submit(n, &k);
  n->short_range.keep_near = false;
  FOR_GROUPS(&n->domain, g)
  if (g->targets > 0) targets_release(&n->short_range, g);
  message_wait();
  motion_check(n, 0.0);
  note_fastest(n, false);
  account(n, b, top);
  if (mesh && nbody_rests(n)) long_range_rest(&n->long_range);
  if (mesh) kick_by_mesh(n, b);
}

/** End the run where a pair may need a shorter step than is allowed. */
static void require_longer(const struct base_step *b, uint8_t deepest) {
  if (deepest < deepest_allowed(b)) return;
  fail(EXIT_RUN_FAILED,
       "a pair of particles needs steps near time.min_dlna = %g of time.max_step: a larger "
       "gravity.softening or time.eta_pair takes longer steps, a smaller time.min_dlna or "
       "time.max_step lets this run go on",
       b->parameters->time.min_dlna);
}

/** The next tick at which a step ends or the mesh acts. */
static uint32_t next_tick(const struct nbody *n, const struct base_step *b) {
  const uint8_t deepest = deepest_occupied(n);
  if (b->tick > 0 && by_pairs(b)) require_longer(b, deepest);
  const uint32_t step = rung_ticks(deepest), least = step < b->mesh_ticks ? step : b->mesh_ticks;
  return (b->tick / least + 1) * least;
}

bool block_advance(struct nbody *n, struct base_step *b) {
  b->tick = next_tick(n, b);
  n->a = scale_factor(b, b->tick);
  const uint8_t top = top_rung(b->tick);
  FOR_GROUPS(&n->domain, g) g->targets = active_of(n, g, top);
  drift_wanted(n, b);
  renew(n, b, top);
  if (b->tick == BASE_TICKS) return false;
  kick_active(n, b, top);
  return true;
}

void block_close(struct nbody *n, struct base_step *b, void (*meanwhile)(void *), void *context) {
  struct rung_kick k = kick_at(b, 0, true, false);
  k.mesh = (float)mesh_kick(b, true, false);
  k.choice = RUNG_FOLLOWS;
  force_and_kick(n, b, &k, meanwhile, context);
  account(n, b, 0);
}
