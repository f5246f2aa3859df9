/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gravity.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/codelets.h"
#include "photons/gas/evolve.h"
#include "photons/gas/particles.h"
#include "photons/runtime/handle.h"

#define PI 3.14159265358979323846
enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };

struct self_gravity *gravity_make(const struct gas *g, const struct parameters *p) {
  if (p->gas.gravity == GAS_GRAVITY_NONE) return NULL;
  if (comm_size() > 1) fail(EXIT_BAD_USAGE, "gas.gravity = self runs on one rank alone");
  struct self_gravity *s = allocate(1, sizeof *s, "self-gravity");
  *s = (struct self_gravity){
      .poisson = poisson_kernels_select(),
      .kernels = gravity_kernels_select(p->gas.precision == GAS_DOUBLE),
      .newton_constant = p->gas.newton_constant,
      .tolerance = p->gas.sor_tolerance,
      .relaxations = (int)p->gas.sibling_relaxations,
      .corrections = (int)p->gas.sheet_corrections,
      .periodic = g->topology.boundary[0][0] == GAS_PERIODIC,
      .root = root_poisson_make(g),
  };
  return s;
}

void gravity_free(struct self_gravity *s) {
  if (s) root_poisson_free(s->root);
  free(s);
}

double gravity_bytes_per_group(const struct parameters *p) {
  return p->gas.gravity == GAS_GRAVITY_NONE
             ? 0.0
             : (POTENTIALS + 1.0) * CUBE_BYTES + sizeof(struct poisson_share);
}

void gravity_make_batch(struct gas_batch *b) {
  for (int i = 0; i < POTENTIALS; i++) b->potential[i] = handle_make(b->count, CUBE_BYTES);
  b->sheets = handle_make(b->count, CUBE_BYTES);
  b->shares = handle_make(b->count, sizeof(struct poisson_share));
}

void gravity_drop_batch(struct gas_batch *b) {
  for (int i = 0; i < POTENTIALS; i++) handle_drop(&b->potential[i]);
  handle_drop(&b->sheets);
  handle_drop(&b->shares);
}

double gravity_factor(const struct gas *g, int level) {
  return 4.0 * PI * g->gravity->newton_constant * pow(gas_cell(g, level), 2.0);
}

double gravity_background(const struct gas *g) {
  return g->gravity->periodic ? g->gravity->mean_density : 0.0;
}

static void swap(struct gas_level *l, enum gas_potential a, enum gas_potential b) {
  const int kept = l->potential[a];
  l->potential[a] = l->potential[b];
  l->potential[b] = kept;
}

static int finest(const struct gas *g) { return topology_levels(&g->topology) - 1; }

static void solve_batches(struct gas *g, int level, double weight, enum potential_mode mode,
                          bool massive) {
  for (uint32_t i = 0; i < g->level[level].batch_count; i++)
    gas_potential_submit(g, level, i, (struct potential_task){weight, mode, massive});
}

/** Relax a level with the values of neighbouring groups. */
static void relax(struct gas *g, int level, double weight, bool massive) {
  for (int k = 0; k < g->gravity->relaxations; k++) {
    solve_batches(g, level, weight, POTENTIAL_RELAX, massive);
    swap(&g->level[level], POTENTIAL_END, POTENTIAL_NEXT);
  }
}

/** Solve a level, from the next coarser one. */
static void solve_level(struct gas *g, int level, double weight, bool massive) {
  if (level == 0) {
    root_poisson_solve(g, massive);
  } else {
    solve_batches(g, level, weight, POTENTIAL_INTERPOLATE, massive);
    relax(g, level, weight, massive);
  }
}

/** Tell the coarser levels, down to `level`, what the finer ones found. */
static void share_levels(struct gas *g, int level) {
  for (int l = finest(g); l > level; l--) {
    for (uint32_t i = 0; i < g->level[l].batch_count; i++) gas_share_submit(g, l, i, l < finest(g));
    for (uint32_t i = 0; i < g->level[l - 1].batch_count; i++) gas_sheet_submit(g, l - 1, i);
    swap(&g->level[l - 1], POTENTIAL_END, POTENTIAL_NEXT);
  }
}

/** Correct the levels from `level` on, the coarser ones first. */
static void correct_levels(struct gas *g, int level, double weight) {
  for (int l = level; l <= finest(g); l++) {
    const bool massive = l < finest(g);
    swap(&g->level[l], POTENTIAL_OLD, POTENTIAL_END);
    if (l == 0) {
      root_poisson_solve(g, massive);
      continue;
    }
    solve_batches(g, l, l == level ? weight : 1.0,
                  l == level ? POTENTIAL_REPEAT : POTENTIAL_CORRECT, massive);
    relax(g, l, l == level ? weight : 1.0, massive);
  }
}

void gravity_solve(struct gas *g, int level, double weight) {
  if (g->particles) gas_particles_deposit(g, level);
  const int corrections = finest(g) > level ? g->gravity->corrections : 0;
  for (int l = level; l <= finest(g); l++) solve_level(g, l, l == level ? weight : 1.0, false);
  for (int k = 0; k < corrections; k++) {
    share_levels(g, level);
    correct_levels(g, level, weight);
  }
}

static void kick(struct gas *g, int level, double dt, double weight) {
  if (g->empty) return;
  for (uint32_t i = 0; i < g->level[level].batch_count; i++)
    gas_kick_submit(g, level, i, dt, weight);
  g->level[level].stale = true;
}

void gravity_open(struct gas *g, int level, double dt, double weight) {
  kick(g, level, 0.5 * dt, weight);
  if (g->particles) gas_particles_open(g, level, dt, weight);
}

void gravity_predict(struct gas *g, int level, double dt, double weight) {
  swap(&g->level[level], POTENTIAL_BEGIN, POTENTIAL_END);
  if (!g->individual || level == finest(g)) return;
  if (g->particles) {
    gas_particles_settle(g, level, level);
    gas_particles_deposit_ahead(g, level, dt);
  }
  solve_level(g, level, weight, g->gravity->corrections > 0);
}

/** Refined patches get the means of the finer cells, on these levels. */
static void restrict_levels(struct gas *g, int level) {
  for (int l = finest(g) - 1; l >= level && !g->empty; l--) gas_restrict_level(g, l);
}

void gravity_close(struct gas *g, int level, double dt, double weight) {
  bool changed = false;
  if (g->particles) gas_particles_settle(g, level, g->topology.finest);
  gravity_solve(g, level, weight);
  for (int l = level; l <= finest(g); l++) {
    kick(g, l, 0.5 * dt / (g->individual ? 1 << (l - level) : 1), l == level ? weight : 1.0);
    if (g->particles) gas_particles_close(g, l, l == level ? weight : 1.0);
  }
  restrict_levels(g, level);
  for (int l = finest(g); l >= level; l--)
    if (l < g->topology.finest && g->level[l].steps % g->regrid == 0)
      changed |= gas_regrid(g, l, l == level ? weight : 1.0, NULL);
  if (changed && g->particles) gas_particles_settle(g, level, g->topology.finest);
  if (changed) gravity_solve(g, level, weight);
}
