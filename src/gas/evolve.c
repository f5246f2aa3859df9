/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/evolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/gas/codelets.h"
#include "photons/gas/gravity.h"
#include "photons/gas/particles.h"
#include "photons/runtime/message.h"

/** With self-gravity steps are divided where the Courant number would be larger: above 1 they are not
 * stable. */
#define COURANT_MOST 0.75
enum { DIVISIONS_MOST = 64 };

static bool has_groups(const struct gas *g, int level) {
  return level <= g->topology.finest && g->topology.level[level].count > 0;
}

/** This rank's batches of a level. */
static uint32_t first_batch(const struct gas *g, int level) {
  return gas_first_batch(g, level, comm_rank());
}
static uint32_t end_batch(const struct gas *g, int level) {
  return gas_first_batch(g, level, comm_rank() + 1);
}

void gas_send_cells(struct gas *g, int level) {
  if (g->level[level].stale) gas_ghosts_submit(g, level, GHOST_CELLS);
  g->level[level].stale = false;
}

void gas_send_cells_around(struct gas *g, int level) {
  gas_send_cells(g, level);
  if (level > 0) gas_send_cells(g, level - 1);
}

/** A level has taken a step. */
static void count_step(struct gas *g, int level) {
  g->level[level].steps++;
  g->updates[level] += g->topology.level[level].count * (uint64_t)GAS_GROUP_CELLS;
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

/** Let a level's gas take a step. @param scale  factor at the end of the step */
static void solve_level(struct gas *g, int level, double dt, struct sub_step s, double scale) {
  const double heat = gas_least_heat(g, scale);
  if (g->empty) return;
  gas_send_cells_around(g, level);
  for (uint32_t i = first_batch(g, level); i < end_batch(g, level); i++) {
    if (g->fused) {
      gas_advance_submit(g, level, i, dt, s.begin, s.end - s.begin, heat);
      continue;
    }
    gas_solve_submit(g, level, i, dt, heat, gas_prepare_submit(g, level, i, s.begin));
    if (level > 0) gas_close_submit(g, level, i, s.end - s.begin, s.begin == 0.0);
  }
  g->level[level].now = 1 - g->level[level].now;
  g->level[level].stale = true;
}

void gas_restrict_level(struct gas *g, int level) {
  gas_ghosts_submit(g, level + 1, GHOST_MEANS);
  for (uint32_t i = first_batch(g, level); i < end_batch(g, level); i++)
    if (g->level[level].batch[i].sons.count > 0) gas_restrict_submit(g, level, i);
  g->level[level].stale = true;
}

/** Correct a level where there are finer groups. */
static void correct_level(struct gas *g, int level, double dt) {
  if (g->empty || !has_groups(g, level + 1)) return;
  if (g->fix_fluxes) gas_ghosts_submit(g, level + 1, GHOST_SIDES);
  for (uint32_t i = first_batch(g, level); i < end_batch(g, level); i++)
    if (g->fix_fluxes && g->level[level].batch[i].fine.count > 0)
      gas_fix_submit(g, level, i, dt, gas_least_heat(g, g->scale));
  gas_restrict_level(g, level);
}

/** A step of the root level. */
struct root_step {
  double length, end; /* end: as gas.time */
};

/** The scale factor after a step of a level. */
static double scale_after(const struct gas *g, const struct root_step *root, struct sub_step s) {
  if (!g->comoving) return 1.0;
  if (s.root_end == 1.0) return root->end;
  return cosmology_after_drift(&g->universe, g->time, s.root_end * root->length);
}

/** Largest speed of a signal on a level that gas_cfl has measured. Collective. */
static double fastest_signal(const struct gas *g, int level) {
  const uint32_t end = gas_first_group(g, level, comm_rank() + 1);
  double fastest = 0.0;
  for (uint32_t i = gas_first_group(g, level, comm_rank()); i < end; i++)
    fastest = fmax(fastest, g->level[level].speed[i]);
  comm_max_double(&fastest, 1);
  return fastest;
}

/** Whether a level divides steps that have become too long. Their length was chosen before the step of
 * the root level, and in its course gravity can make gas too fast. */
static bool divides(const struct gas *g, int level) {
  return level > 0 && g->gravity && g->individual && !g->empty;
}

/** Into how many equal parts a step of a level is to be divided, a power of two. */
static int divisions(struct gas *g, int level, double dt) {
  const uint32_t first = gas_first_group(g, level, comm_rank()),
                 groups = gas_first_group(g, level, comm_rank() + 1) - first;
  struct gas_fault *fault = g->level[level].fault + first;
  int parts = 1;
  if (!divides(g, level)) return parts;
  /* A kick can leave a cold cell of single precision without pressure, which the next solution
   * mends: only what other stages find, or what lasts to the end of the step, is a fault. */
  struct gas_fault *before = allocate((size_t)groups + 1, sizeof *before, "faults of gas");
  message_wait();
  message_begin();
  memcpy(before, fault, groups * sizeof *before);
  for (uint32_t i = first_batch(g, level); i < end_batch(g, level); i++)
    gas_cfl_submit(g, level, i);
  message_wait();
  message_begin();
  memcpy(fault, before, groups * sizeof *before);
  free(before);
  const double courant = dt * fastest_signal(g, level) / gas_cell(g, level);
  while (courant > COURANT_MOST * parts && parts < DIVISIONS_MOST) parts *= 2;
  return parts;
}

/** Whether a level or a finer one has taken gas.regrid steps since its flags were followed. */
static bool flags_due(const struct gas *g, int level) {
  for (int l = level; l < g->topology.finest && has_groups(g, l); l++)
    if (g->level[l].steps % g->regrid == 0) return true;
  return false;
}

/** Solve the potentials of a level and all finer ones, which are at the same time. */
static void solve_potentials(struct gas *g, int level, double weight) {
  if (g->gravity) gravity_solve(g, level, weight);
}

/** If the flags of one of these levels are due, those of all are followed, coarser ones first.
 * Otherwise a wave that comes to the end of all levels would leave the finest one behind, which finds
 * no room before the coarser ones have made it. */
static void follow_flags(struct gas *g, int level, double weight) {
  bool changed = false;
  if (!flags_due(g, level)) return;
  for (int l = level; l < g->topology.finest && has_groups(g, l); l++) {
    if (!gas_regrid(g, l, l == level ? weight : 1.0, NULL)) continue;
    gas_place_particles(g, level); /* the next flags compare their densities */
    changed = true;
  }
  if (changed) solve_potentials(g, level, weight);
}

/** Accelerate a level by its potential, the first half of a step, and let particles drift.
 * @param weight  of this time in the step of the next coarser level, 0 .. 1, as below */
static void open_step(struct gas *g, int level, double dt, double weight) {
  if (g->gravity) gravity_kick(g, level, 0.5 * dt, weight);
  if (g->particles) gas_particles_open(g, level, dt, weight);
}

/** The potential at the end of a level's step, for the boundaries of finer levels on their way there. Finer
 * levels have not taken their steps yet: it is found from the level's own densities. */
static void predict_potential(struct gas *g, int level, double dt, double weight) {
  if (!g->gravity) return;
  gravity_begin_step(g, level);
  if (!g->individual || !has_groups(g, level + 1)) return;
  if (g->particles) {
    gas_particles_settle(g, level, level);
    gas_particles_deposit_ahead(g, level, dt);
  }
  gravity_predict(g, level, weight);
}

/** Accelerate a level and all finer ones for the second half of their steps. */
static void close_steps(struct gas *g, int level, double weight) {
  if (!g->gravity) return;
  for (int l = level; has_groups(g, l); l++) {
    gravity_kick(g, l, 0.5 * g->level[l].dt, l == level ? weight : 1.0);
    if (g->particles) gas_particles_close(g, l, l == level ? weight : 1.0);
  }
  for (int l = topology_levels(&g->topology) - 2; l >= level && !g->empty; l--)
    gas_restrict_level(g, l);
}

static void advance_finer(struct gas *g, int level, const struct root_step *root,
                          struct sub_step s);

/**
 * A step of a level and of all finer ones. What a run is without, gas, gravity or particles, takes no
 * part.
 *
 *  1. Half a kick of gas and particles by the potential at the beginning. Particles drift.
 *  2. The gas of the level takes the step.
 *  3. The potential at the end is predicted, for the boundaries of finer levels.
 *  4. The next finer level takes its steps, each of them from 1 to 8.
 *  5. The level is corrected: fluxes beside refined patches, and cells below these, are the finer
 *     level's means.
 *
 * A level that ends a step together with the next coarser one leaves the others to that. They are done for
 * the level and all finer ones, which have come to the same time.
 *
 *  6. Particles get their groups and levels, and these the densities of the particles. The
 *     potentials are solved.
 *  7. Half a kick by these.
 *  8. Groups follow the flags of the flow, those of coarser levels first. If groups have changed, 6
 *     is done for them again.
 */
static void advance(struct gas *g, int level, const struct root_step *root, struct sub_step s) {
  const double dt = (s.root_end - s.root_begin) * root->length, scale = scale_after(g, root, s);
  g->level[level].dt = dt;
  open_step(g, level, dt, s.begin);    /* 1 */
  solve_level(g, level, dt, s, scale); /* 2 */
  count_step(g, level);
  g->scale = scale;
  predict_potential(g, level, dt, s.end); /* 3 */
  advance_finer(g, level, root, s);       /* 4 */
  g->scale = scale;
  correct_level(g, level, dt); /* 5 */
  if (level > 0 && s.end == 1.0) return;
  gas_place_particles(g, level); /* 6 */
  solve_potentials(g, level, s.end);
  close_steps(g, level, s.end);  /* 7 */
  follow_flags(g, level, s.end); /* 8 */
}

/** The steps of the next finer level in a step of a level. */
static void advance_finer(struct gas *g, int level, const struct root_step *root,
                          struct sub_step s) {
  int steps = g->individual ? 2 : 1;
  if (!has_groups(g, level + 1)) return;
  for (int i = 0; i < steps; i++) {
    const int parts = divisions(g, level + 1, g->level[level].dt / steps);
    steps *= parts;
    i *= parts;
    advance(g, level + 1, root, finer_step(s, i, steps));
  }
}

static void take_step(struct gas *g, struct root_step root) {
  for (int level = 0; level <= g->topology.finest; level++) g->updates[level] = 0;
  message_begin();
  advance(g, 0, &root, (struct sub_step){0.0, 1.0, 0.0, 1.0});
  message_wait();
  g->time = root.end;
}

void gas_step(struct gas *g, double dt) {
  const double end = g->comoving ? cosmology_after_drift(&g->universe, g->time, dt) : g->time + dt;
  take_step(g, (struct root_step){dt, end});
}

double gas_step_length(const struct gas *g, double end) {
  return g->comoving ? cosmology_drift(&g->universe, g->time, end) : end - g->time;
}

void gas_step_to(struct gas *g, double end) {
  take_step(g, (struct root_step){gas_step_length(g, end), end});
}

/** Note the Courant number of a level in its last step, unless its next one would be divided. @return
 * the longest step of the root level at a Courant number of 1 */
static double account_speed(const struct gas *g, int level, struct gas_totals *t) {
  const double cell = gas_cell(g, level), speed = fastest_signal(g, level),
               courant = g->level[level].dt * speed / cell;
  if (courant > t->courant && !divides(g, level)) {
    t->courant = courant;
    t->courant_level = level;
  }
  return (g->individual ? 1 << level : 1) * cell / speed;
}

struct gas_totals gas_measure(struct gas *g) {
  struct gas_totals t = {0};
  double limit = -INFINITY; /* minus the longest step */
  const int levels = topology_levels(&g->topology);
  for (int level = 0; level < levels; level++) {
    if (g->gravity) gravity_send_around(g, level, 1.0);
    for (uint32_t i = first_batch(g, level); i < end_batch(g, level); i++) {
      if (!g->empty) gas_cfl_submit(g, level, i);
      gas_sum_submit(g, level, i);
      if (g->gravity) gas_field_submit(g, level, i);
    }
  }
  message_wait();
  gas_require_sound(g);
  for (int level = 0; level < levels; level++) {
    const double cell = gas_cell(g, level), steps = g->individual ? 1 << level : 1;
    const struct gas_level *l = &g->level[level];
    if (!g->empty) limit = fmax(limit, -account_speed(g, level, &t));
    gas_gather(g, level, l->sum, sizeof *l->sum);
    for (uint32_t i = 0; i < g->topology.level[level].count; i++)
      for (unsigned v = 0; v < g->variables; v++)
        t.conserved[v] += l->sum[i][v] * cell * cell * cell;
    if (!g->gravity) continue;
    gas_gather(g, level, l->field, sizeof *l->field);
    for (uint32_t i = 0; i < g->topology.level[level].count; i++) {
      const struct gas_field *field = &l->field[i];
      t.potential_energy += field->energy * cell * cell * cell;
      if (field->acceleration > 0.0 && !g->empty)
        limit = fmax(limit, -steps * sqrt(2.0 * cell / field->acceleration));
    }
  }
  comm_max_double(&limit, 1);
  t.longest_step = -limit;
  if (g->particles) {
    t.particles = gas_particles_measure(g);
    t.longest_step = fmin(t.longest_step, t.particles.longest_step);
  }
  return t;
}
