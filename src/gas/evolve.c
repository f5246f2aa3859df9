/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/evolve.h"

#include <math.h>

#include "photons/amr/codelets.h"
#include "photons/amr/migrate.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/gas/create.h"
#include "photons/gas/packages.h"
#include "photons/hydro/codelets.h"
#include "photons/hydro/hydro.h"
#include "photons/pm/particles.h"
#include "photons/potential/codelets.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"

/** With self-gravity steps are divided where the Courant number would be larger: above 1 they are not
 * stable. */
#define COURANT_MOST 0.75
enum { DIVISIONS_MOST = 64 };

/** A level has taken a step. */
static void count_step(struct gas *g, int level) {
  g->level[level].steps++;
  g->counts.updates[level] += g->topology.level[level].count * (uint64_t)GAS_GROUP_CELLS;
}

/** Where a step of a level is in the step of the next coarser one, and in that of the root level. */
struct sub_step {
  double begin, end; /* 0 .. 1 */
  double root_begin, root_end;
};

/** One of equal steps of the next finer level within a step. */
static struct sub_step finer_step(struct sub_step s, int i, int steps) {
  const double length = (s.root_end - s.root_begin) / steps;
  return (struct sub_step){i / (double)steps, (i + 1.0) / steps, s.root_begin + i * length,
                           s.root_begin + (i + 1.0) * length};
}

/** A step of the root level. */
struct root_step {
  double length, end; /* end: as gas.time */
};

/** The scale factor after a step of a level. */
static double scale_after(const struct gas *g, const struct root_step *root, struct sub_step s) {
  if (!g->universe.comoving) return 1.0;
  if (s.root_end == 1.0) return root->end;
  return cosmology_after_drift(&g->universe.cosmology, g->time, s.root_end * root->length);
}

/** Submit what divisions() waits for. A kick can leave a cold cell of single precision without pressure, which the next
 * solution mends: only what other stages find, or what lasts to the end of the step, is a fault. */
static void find_speeds(struct gas *g, int level) {
  if (!gas_divides(g, level) || !topology_has_groups(&g->topology, level)) return;
  for (uint32_t k = 0; k < g->level[level].own; k++)
    gas_cfl_submit(g, level, g->level[level].turn[k], false);
}

/** Wait for the speeds of a level; on several ranks for all tasks, so that memory of messages is free again. */
static void wait_for_speeds(const struct gas *g) {
  if (comm_size() == 1) {
    handle_wait(g->tasks.speeds);
    return;
  }
  message_wait();
  message_begin();
}

/** Into how many equal parts a step of a level is to be divided, a power of two. find_speeds() comes before. */
static int divisions(struct gas *g, int level, double dt) {
  int parts = 1;
  if (!gas_divides(g, level)) return parts;
  wait_for_speeds(g);
  const double courant = dt * hydro_fastest(g, level) / gas_cell(g, level);
  while (courant > COURANT_MOST * parts && parts < DIVISIONS_MOST) parts *= 2;
  return parts;
}

/** Whether a level or a finer one has taken gas.regrid steps since its flags were followed. */
static bool flags_due(const struct gas *g, int level) {
  for (int l = level; l < g->topology.finest && topology_has_groups(&g->topology, l); l++)
    if (g->level[l].steps % g->refinement.regrid == 0) return true;
  return false;
}

/** Solve the potentials of a level and all finer ones, which are at the same time. */
static void solve_potentials(struct gas *g, int level, double weight) {
  if (g->gravity) gravity_solve(g, level, weight);
}

/** Give particles their groups, find densities, and solve the potentials. */
static void place_and_solve(struct gas *g, int level, double weight) {
  if (g->particles) {
    gas_particles_settle(g, level, g->topology.finest);
    gas_gravity_open(g);
    gas_particles_deposit(g, level);
  }
  solve_potentials(g, level, weight);
}

/** If the flags of one of these levels are due, those of all are followed, coarser ones first.
 * Otherwise a wave that comes to the end of all levels would leave the finest one behind, which finds
 * no room before the coarser ones have made it. */
static void follow_flags(struct gas *g, int level, double weight) {
  const int finest = g->topology.finest, levels = topology_levels(&g->topology),
            last = levels < finest ? levels - 1 : finest - 1;
  bool changed = false;
  if (!flags_due(g, level)) return;
  gas_find_flags(g, level, last, weight);
  for (int l = level; l < finest && topology_has_groups(&g->topology, l); l++) {
    if (!gas_regrid(g, l, l == level ? weight : 1.0, NULL)) continue;
    changed = true;
    if (!g->particles) continue;
    gas_particles_settle(g, l, l + 1); /* finer levels keep their groups, and room around these */
    const bool begun = gas_chain_begin_levels(g);
    gas_particles_deposit(g, l);        /* the next flags compare their densities */
    gas_particles_collect(g, level, l); /* particles of coarser levels stay where they are */
    gas_chain_end(g, begun);
    for (int finer = l + 1; finer <= finest; finer++) g->level[finer].flagged = false;
  }
  if (changed) solve_potentials(g, level, weight);
}

/** Whether a potential at the end of a level's step is found before the finer levels take theirs. */
static bool is_predicted(const struct gas *g, int level) {
  return g->gravity && g->scheme.individual && topology_has_groups(&g->topology, level + 1);
}

/** Whether particles get groups of their level for it. */
static bool settles_ahead(const struct gas *g, int level) {
  return is_predicted(g, level) && gas_particles_need_groups();
}

/** Let sources act, accelerate a level by its potential, the first half of a step, and let particles drift.
 * @param weight  of this time in the step of the next coarser level, 0 .. 1, as below */
static void open_step(struct gas *g, int level, double dt, double weight) {
  packages_apply(g, level, 0.5 * dt);
  if (g->gravity) gravity_kick(g, level, 0.5 * dt, weight);
  if (!g->particles) return;
  gas_particles_open(g, level, dt, weight, !settles_ahead(g, level));
}

/** Send the new cells of the finest level, where nothing changes them before its next step: GPUs send them while they
 * still solve others. */
static void send_ahead(struct gas *g, int level) {
  const bool kicked = g->gravity || packages_have_sources(g);
  if (!kicked && !topology_has_groups(&g->topology, level + 1)) gas_send_cells(g, level);
}

/** The potential at the end of a level's step, for the boundaries of finer levels on their way there.
 * Finer levels have not taken their steps yet: it is found from the level's own densities. */
static void predict_potential(struct gas *g, int level, double dt, double weight) {
  if (!g->gravity) return;
  gravity_begin_step(g, level);
  if (!is_predicted(g, level)) return;
  if (g->particles && settles_ahead(g, level)) {
    gas_particles_settle(g, level, level);
    gas_particles_list(g, level, g->topology.finest);
  }
  gas_gravity_open(g);
  if (g->particles) gas_particles_deposit_ahead(g, level, dt);
  gravity_predict(g, level, weight);
}

/** Accelerate a level by its potential, the second half of a step. @param weight  of the end of the step */
static void close_by_gravity(struct gas *g, int level, double weight) {
  const double dt = g->level[level].dt,
               begin = level > 0 ? weight - dt / g->level[level - 1].dt : 0.0;
  const struct gravity_step step = {dt, begin, weight};
  gravity_close_step(g, level, step);
  if (g->particles) gas_particles_close(g, level, step);
}

/** Accelerate a level and all finer ones, and let sources act, for the second half of their steps. */
static void close_steps(struct gas *g, int level, double weight) {
  if (!g->gravity && !packages_have_sources(g)) return;
  if (g->gravity) gravity_close_stresses(g, level, weight);
  for (int l = level; topology_has_groups(&g->topology, l); l++) {
    if (g->gravity) close_by_gravity(g, l, l == level ? weight : 1.0);
    packages_apply(g, l, 0.5 * g->level[l].dt);
  }
  hydro_restrict(g, level);
}

static void advance_finer(struct gas *g, int level, const struct root_step *root,
                          struct sub_step s);

/**
 * A step of a level and of all finer ones. A run may be without gas, self-gravity or particles: these
 * then take no part.
 *
 *  1. Sources of packages act on the gas for half the step. The potential at the beginning kicks gas and
 *     particles for half the step. Particles drift.
 *  2. The gas of the level takes the step.
 *  3. The potential at the end is predicted, for the boundaries of finer levels.
 *  4. The next finer level takes its steps: two, or more where its gas has become too fast for two.
 *  5. The level is corrected: fluxes beside refined patches become those of the finer level, and cells
 *     of refined patches the means of its cells.
 *
 * If the next coarser level ends its step at the same time, it does what is left: for all levels that
 * have come to this time, which are the finer ones and itself.
 *
 *  6. Particles get their levels and groups, and groups the densities of particles. Potentials are
 *     solved.
 *  7. These potentials kick gas and particles, and sources act, for the other half of each level's step.
 *     The energy that gravity gave becomes the work of the mass that flowed.
 *     Cells of refined patches become the means of finer cells again.
 *  8. Groups follow the flags, those of coarser levels first. Where groups have changed, 6 is done
 *     again.
 */
static void advance(struct gas *g, int level, const struct root_step *root, struct sub_step s) {
  const double dt = (s.root_end - s.root_begin) * root->length, scale = scale_after(g, root, s);
  const struct hydro_step step = {dt, s.begin, s.end, gas_least_heat(g, scale)};
  g->level[level].dt = dt;
  open_step(g, level, dt, s.begin); /* 1 */
  /* Nothing changes the cells of the finer level before part 4, where GPUs then do not wait for the host. */
  find_speeds(g, level + 1);
  hydro_solve(g, level, step); /* 2 */
  send_ahead(g, level);
  count_step(g, level);
  g->universe.scale = scale;
  predict_potential(g, level, dt, s.end); /* 3 */
  advance_finer(g, level, root, s);       /* 4 */
  g->universe.scale = scale;
  hydro_correct(g, level, step); /* 5 */
  if (level > 0 && s.end == 1.0) return;
  place_and_solve(g, level, s.end); /* 6 */
  close_steps(g, level, s.end);     /* 7 */
  follow_flags(g, level, s.end);    /* 8 */
}

/** The steps of the next finer level in a step of a level. */
static void advance_finer(struct gas *g, int level, const struct root_step *root,
                          struct sub_step s) {
  int steps = g->scheme.individual ? 2 : 1;
  if (!topology_has_groups(&g->topology, level + 1)) return;
  for (int i = 0; i < steps; i++) {
    if (i > 0) find_speeds(g, level + 1);
    const int parts = divisions(g, level + 1, g->level[level].dt / steps);
    steps *= parts;
    i *= parts;
    advance(g, level + 1, root, finer_step(s, i, steps));
  }
}

static void take_step(struct gas *g, struct root_step root) {
  for (int level = 0; level <= g->topology.finest; level++) g->counts.updates[level] = 0;
  message_begin();
  advance(g, 0, &root, (struct sub_step){0.0, 1.0, 0.0, 1.0});
  gas_measure_begin(g);
  message_wait();
  gas_forget_replaced(g);
  g->time = root.end;
}

void gas_step(struct gas *g, double dt) {
  const double end = g->universe.comoving
                         ? cosmology_after_drift(&g->universe.cosmology, g->time, dt)
                         : g->time + dt;
  take_step(g, (struct root_step){dt, end});
}

double gas_step_length(const struct gas *g, double end) {
  return g->universe.comoving ? cosmology_drift(&g->universe.cosmology, g->time, end)
                              : end - g->time;
}

void gas_step_to(struct gas *g, double end) {
  take_step(g, (struct root_step){gas_step_length(g, end), end});
}
