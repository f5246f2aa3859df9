/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/potential/gravity.h"

#include <math.h>

#include "photons/potential/codelets.h"
#include "photons/runtime/handle.h"

/** In the place of a weight: gas_batch.shares has the present stress. */
#define SHARED (-1.0)

static void swap(struct gas_level *l, enum gas_potential a, enum gas_potential b) {
  const int kept = l->potential[a];
  l->potential[a] = l->potential[b];
  l->potential[b] = kept;
}

static int finest(const struct gas *g) { return topology_levels(&g->topology) - 1; }

/** Send a potential to the ranks that need it, if it has changed since it was last sent. */
static void send(struct gas *g, int level, enum gas_potential which) {
  bool *stale = &g->level[level].stale_potential[g->level[level].potential[which]];
  if (*stale) gas_potential_ghosts_submit(g, level, which);
  *stale = false;
}

/** Send the coarser level's potential at the time of a level. */
static void send_coarser(struct gas *g, int level, double weight) {
  if (level == 0) return;
  if (weight < 1.0) send(g, level - 1, POTENTIAL_BEGIN);
  if (weight > 0.0) send(g, level - 1, POTENTIAL_END);
}

void gravity_send_around(struct gas *g, int level, double weight) {
  send(g, level, POTENTIAL_END);
  send_coarser(g, level, weight);
}

/** A potential of a level has been written. */
static void note_change(struct gas *g, int level, enum gas_potential which) {
  g->level[level].stale_potential[g->level[level].potential[which]] = true;
}

/** Send what a solution of a level reads. */
static void send_for(struct gas *g, int level, struct potential_task how) {
  if (how.mode != POTENTIAL_INTERPOLATE)
    send(g, level,
         how.mode == POTENTIAL_REPEAT   ? POTENTIAL_OLD
         : how.mode == POTENTIAL_FOLLOW ? POTENTIAL_BEGIN
                                        : POTENTIAL_END);
  if (how.mode == POTENTIAL_CORRECT) send(g, level - 1, POTENTIAL_OLD);
  if (how.mode == POTENTIAL_FOLLOW) send(g, level - 1, POTENTIAL_BEGIN);
  send_coarser(g, level, how.weight);
}

/** Solve every other group of a level. */
static void solve_half(struct gas *g, int level, struct potential_task how) {
  send_for(g, level, how);
  for (uint32_t k = 0; k < g->level[level].own; k++)
    gas_potential_submit(g, level, g->level[level].turn[k], how);
  note_change(g, level, POTENTIAL_NEXT);
  swap(&g->level[level], POTENTIAL_END, POTENTIAL_NEXT);
}

/** Which part of the coarser level's step has passed since the latest potential of a level, or 1 for a
 * correction. */
static double change_of(const struct gas_level *l, double weight, enum potential_mode mode) {
  return mode == POTENTIAL_CORRECT  ? 1.0
         : mode == POTENTIAL_FOLLOW ? weight - l->latest_weight
                                    : 0.0;
}

/** The latest potential of a level is POTENTIAL_END, of this time. */
static void note_solution(struct gas_level *l, double weight) {
  l->solved = true;
  l->latest = POTENTIAL_END;
  l->latest_weight = weight;
}

/** How a level is solved: its groups, and those of their further solutions with the values of
 * neighbours that no coarser level takes the place of. */
struct level_solution {
  double weight; /**< of potential_task */
  enum potential_mode mode;
  bool massive;  /**< of potential_task */
  bool coarsest; /**< of those that are solved together */
};

/** Further solutions in a correction. A mass where eight groups meet feels itself by a fifth as much after each
 * correction without them, by a fifteenth with one. */
enum { CORRECTION_RELAXATIONS = 1 };

/** Further solutions of the groups of a level. What neighbours differ by over long ways a correction by
 * coarser levels mends much faster, where coarser levels are solved, too. */
static int relaxations_of(const struct self_gravity *s, struct level_solution how) {
  if (how.coarsest || s->corrections == 0) return s->relaxations;
  return how.mode == POTENTIAL_CORRECT || how.mode == POTENTIAL_REPEAT ? CORRECTION_RELAXATIONS : 0;
}

/** Whether one task of a home solves all groups of a level in turn, without messages between solutions; the same on
 * all ranks. */
static bool is_solved_in_turn(const struct gas *g, int level) {
  const uint32_t last = g->level[level].batch_count - 1;
  if (g->tasks.together) return true;
  return g->gravity->gpus && g->gravity->direct &&
         g->level[level].groups <= g->gravity->together_most &&
         gas_home_of_batch(g, level, 0) == gas_home_of_batch(g, level, last);
}

/** Solve all groups of a level in turn. Another rank may have the level. */
static void solve_in_turn(struct gas *g, int level, struct potential_task first, int solutions) {
  send_for(g, level, first);
  if (g->level[level].own > 0) gas_potentials_submit(g, level, first, solutions);
  note_change(g, level, POTENTIAL_END);
}

/** Solve the even groups of a level, then the odd ones with their values, and so on. */
static void solve_halves(struct gas *g, int level, struct potential_task first, int solutions) {
  if (is_solved_in_turn(g, level)) {
    solve_in_turn(g, level, first, solutions);
    return;
  }
  for (int k = 0; k < solutions; k++) solve_half(g, level, potential_solution(first, k, solutions));
}

/** Solve the groups of a level. */
static void solve_groups(struct gas *g, int level, struct level_solution s) {
  const int solutions = 2 + 2 * relaxations_of(g->gravity, s);
  const struct potential_task first = {.weight = s.weight,
                                       .mode = s.mode,
                                       .massive = s.massive,
                                       .change = change_of(&g->level[level], s.weight, s.mode)};
  solve_halves(g, level, first, solutions);
  note_solution(&g->level[level], s.weight);
}

/** Solve the root level. */
static void solve_root(struct gas *g, bool massive) {
  root_poisson_solve(g, massive);
  note_change(g, 0, POTENTIAL_END);
  note_solution(&g->level[0], 1.0);
}

/** Solve a level from the next coarser one alone. */
static void solve_anew(struct gas *g, int level, double weight, bool coarsest) {
  if (level == 0)
    solve_root(g, false);
  else
    solve_groups(g, level, (struct level_solution){weight, POTENTIAL_INTERPOLATE, false, coarsest});
}

/** Whether finer levels tell a level their pseudo-mass. */
static bool is_corrected(const struct gas *g, int level) {
  return g->gravity->corrections > 0 && level < finest(g);
}

/** Solve a level from its latest potential. */
static void solve_on(struct gas *g, int level, double weight, bool coarsest) {
  const struct gas_level *l = &g->level[level];
  const enum potential_mode mode = l->latest == POTENTIAL_BEGIN ? POTENTIAL_FOLLOW
                                                                : POTENTIAL_RELAX;
  if (level == 0)
    solve_root(g, is_corrected(g, level));
  else
    solve_groups(g, level, (struct level_solution){weight, mode, is_corrected(g, level), coarsest});
}

/** Whether a level's latest potential, of this time, is to be corrected: it is as good as another
 * solution with the same pseudo-mass. */
static bool is_begun(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  return l->solved && l->latest == POTENTIAL_END && is_corrected(g, level);
}

/** Whether the next coarser level gets the stress on the sides of a level's groups. That of gas is not known apart
 * from that of particles. */
static bool has_stress(const struct gas *g, int level) {
  return level > 0 && is_corrected(g, level - 1) && !g->particles;
}

/** Find the pseudo-mass of a level from what the next finer one found. POTENTIAL_OLD becomes the
 * potential with the finer one's means. @param last  of the corrections */
static void share_level(struct gas *g, int level, bool last) {
  const int finer = level + 1;
  gravity_send_around(g, finer, 1.0);
  for (uint32_t k = 0; k < g->level[finer].own; k++)
    gas_share_submit(g, finer, g->level[finer].turn[k], finer < finest(g),
                     last && has_stress(g, finer));
  gas_ghosts_submit(g, finer, GHOST_SHARES);
  for (uint32_t k = 0; k < g->level[level].own; k++)
    gas_sheet_submit(g, level, g->level[level].turn[k]);
  note_change(g, level, POTENTIAL_NEXT);
  swap(&g->level[level], POTENTIAL_OLD, POTENTIAL_NEXT);
}

/** Solve all levels again: the coarser ones with the pseudo-mass that the finer ones tell them, down
 * to `level`; then the finer ones with what has changed of the coarser ones (a V-cycle). */
static void correct_levels(struct gas *g, int level, double weight, bool last) {
  for (int l = finest(g) - 1; l >= level; l--) {
    share_level(g, l, last);
    if (l == 0)
      solve_root(g, true);
    else
      solve_groups(
          g, l,
          (struct level_solution){l == level ? weight : 1.0, POTENTIAL_REPEAT, true, l == level});
  }
  for (int l = level + 1; l <= finest(g); l++)
    solve_groups(g, l, (struct level_solution){1.0, POTENTIAL_CORRECT, l < finest(g), false});
}

void gravity_solve(struct gas *g, int level, double weight) {
  const int corrections = finest(g) > level ? g->gravity->corrections : 0;
  gas_gravity_begin(g, level, finest(g));
  for (int l = level; l <= finest(g); l++) {
    const double at = l == level ? weight : 1.0;
    const bool anew = level == 0 || !g->level[l].solved;
    if (anew)
      solve_anew(g, l, at, l == level);
    else if (!is_begun(g, l))
      solve_on(g, l, at, l == level);
    /* Even groups began with the coarser level alone. What they tell it should be better. */
    if (corrections > 0 && l > 0 && anew)
      solve_halves(g, l, (struct potential_task){.weight = at, .mode = POTENTIAL_RELAX}, 1);
  }
  for (int k = 0; k < corrections; k++) correct_levels(g, level, weight, k == corrections - 1);
  gas_gravity_end(g);
}

/** Whether cells of a batch are beside refined patches, whose stresses are known. */
static bool has_border(const struct gas *g, int level, uint32_t batch) {
  return has_stress(g, level + 1) && gas_batch(g, level, batch)->fine.count > 0;
}

static void submit_border(struct gas *g, int level, uint32_t batch, struct kick_task kick) {
  if (has_border(g, level, batch)) gas_border_submit(g, level, batch, kick);
}

/** Add a kick to the time integrals of a level's stresses. */
static void add_stress(struct gas *g, int level, struct stress_kick kick, double weight) {
  kick.time /= gravity_factor(g, level);
  for (uint32_t k = 0; k < g->level[level].own; k++)
    gas_stress_submit(g, level, g->level[level].turn[k], kick, weight);
}

/** The first kick of a level's step. The coarser level has taken the stress at the beginning of its own step. */
static void open_stress(struct gas *g, int level, double dt, double weight) {
  if (!has_stress(g, level)) return;
  if (weight == 0.0)
    add_stress(g, level, (struct stress_kick){STRESS_FIRST, dt - 0.5 * g->level[level - 1].dt, 0.0},
               SHARED);
  else
    add_stress(g, level, (struct stress_kick){STRESS_BETWEEN, dt, 0.0}, SHARED);
}

void gravity_close_stresses(struct gas *g, int level, double weight) {
  if (g->scheme.particles_alone) return;
  if (has_stress(g, level)) {
    gravity_send_around(g, level, weight);
    add_stress(g, level, (struct stress_kick){STRESS_BETWEEN, 0.5 * g->level[level].dt, 0.0},
               weight);
  }
  for (int l = level + 1; l <= finest(g) && has_stress(g, l); l++) {
    add_stress(g, l,
               (struct stress_kick){STRESS_LAST, 0.5 * g->level[l].dt,
                                    gravity_factor(g, l) / (0.5 * g->level[l - 1].dt)},
               SHARED);
    gas_ghosts_submit(g, l, GHOST_SHARES);
  }
}

void gravity_kick(struct gas *g, int level, double dt, double weight) {
  gravity_send_around(g, level, weight); /* for particles, too */
  if (g->scheme.particles_alone) return;
  open_stress(g, level, dt, weight);
  for (uint32_t k = 0; k < g->level[level].own; k++) {
    const uint32_t i = g->level[level].turn[k];
    if (!gas_batch(g, level, i)->pushed) gas_kick_submit(g, level, i, dt, weight);
    submit_border(g, level, i, (struct kick_task){dt, weight, false});
  }
  g->level[level].stale = true;
}

void gravity_close_step(struct gas *g, int level, struct gravity_step step) {
  gravity_send_around(g, level, step.end); /* for particles, too */
  if (g->scheme.particles_alone) return;
  for (uint32_t k = 0; k < g->level[level].own; k++) {
    const uint32_t i = g->level[level].turn[k];
    if (!gas_batch(g, level, i)->pushed) gas_work_submit(g, level, i, step);
    submit_border(g, level, i, (struct kick_task){0.5 * step.dt, step.end, true});
  }
  g->level[level].stale = true;
}

void gravity_begin_step(struct gas *g, int level) {
  swap(&g->level[level], POTENTIAL_BEGIN, POTENTIAL_END);
  g->level[level].latest = POTENTIAL_BEGIN;
  if (level < g->topology.finest) g->level[level + 1].latest_weight = 0.0;
}

void gravity_predict(struct gas *g, int level, double weight) {
  gas_gravity_begin(g, level, level);
  solve_on(g, level, weight, true);
  gas_gravity_end(g);
}

void gravity_copy_potential(const struct gas *g, int level, uint32_t group, void *cells) {
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = gas_batch_with(g, level, group);
  const starpu_data_handle_t potential = b->potential[l->potential[POTENTIAL_END]];
  handle_acquire(potential, STARPU_R);
  const double *cube = (const double *)starpu_vector_get_local_ptr(potential) +
                       (group - b->first) * (size_t)GAS_GROUP_CELLS;
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    int at = 0;
    for (int c = 2; c >= 0; c--) /* z, y, x */
      at = GAS_GROUP_SIDE * at + GAS_PATCH_SIDE * (i / GAS_PATCH_CELLS >> c & 1) + (i >> 3 * c & 7);
    if (g->scheme.kernels->real_size == sizeof(double))
      ((double *)cells)[i] = cube[at];
    else
      ((float *)cells)[i] = (float)cube[at];
  }
  starpu_data_release(potential);
}
