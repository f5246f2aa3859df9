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
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"

#define PI 3.14159265358979323846
enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };

struct self_gravity *gravity_make(const struct gas *g, const struct parameters *p) {
  if (p->gas.gravity == GAS_GRAVITY_NONE) return NULL;
  struct self_gravity *s = allocate(1, sizeof *s, "self-gravity");
  *s = (struct self_gravity){
      .poisson = poisson_kernels_select(),
      .kernels = gravity_kernels_select(p->gas.precision == GAS_DOUBLE),
      .direct = p->gas.poisson == GAS_POISSON_DIRECT,
      .newton_constant = p->gas.comoving ? GRAVITY : p->gas.newton_constant,
      .tolerance = p->gas.sor_tolerance,
      .relaxations = (int)p->gas.sibling_relaxations,
      .corrections = (int)p->gas.sheet_corrections,
      .periodic = g->topology.boundary[0][0] == GAS_PERIODIC,
      .root = root_poisson_make(g),
  };
  poisson_waves_make(&s->waves);
  if (engine_gpu())
    s->pivots = handle_register(s->waves.pivot, GAS_GROUP_CELLS, sizeof *s->waves.pivot);
  return s;
}

void gravity_free(struct self_gravity *s) {
  if (!s) return;
  root_poisson_free(s->root);
  handle_drop(&s->pivots);
  free(s);
}

double gravity_bytes_per_group(const struct parameters *p) {
  return p->gas.gravity == GAS_GRAVITY_NONE
             ? 0.0
             : (POTENTIALS + 1.0) * CUBE_BYTES + sizeof(struct poisson_share);
}

void gravity_make_batch(struct gas_batch *b) {
  for (int i = 0; i < POTENTIALS; i++)
    b->potential[i] = handle_make(handle_room(b->count), CUBE_BYTES);
  b->sheets = handle_make(handle_room(b->count), CUBE_BYTES);
  b->shares = handle_make(handle_room(b->count), sizeof(struct poisson_share));
}

void gravity_drop_batch(struct gas_batch *b) {
  for (int i = 0; i < POTENTIALS; i++) handle_drop(&b->potential[i]);
  handle_drop(&b->sheets);
  handle_drop(&b->shares);
}

void gravity_make_ghosts(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  const struct ghost_messages *potentials = &l->ghosts.received[GHOST_POTENTIALS],
                              *shares = &l->ghosts.received[GHOST_SHARES];
  for (uint32_t i = 0; i < potentials->count; i++)
    for (uint32_t k = 0; k < potentials->message[i].batches.count; k++) {
      struct gas_batch *b = &l->batch[potentials->message[i].batches.batch[k]];
      for (int n = 0; n < POTENTIALS; n++)
        b->potential[n] = handle_make(handle_room(b->count), CUBE_BYTES);
    }
  for (uint32_t i = 0; i < shares->count; i++)
    for (uint32_t k = 0; k < shares->message[i].batches.count; k++) {
      struct gas_batch *b = &l->batch[shares->message[i].batches.batch[k]];
      b->shares = handle_make(handle_room(b->count), sizeof(struct poisson_share));
    }
}

double gravity_factor(const struct gas *g, int level) {
  return 4.0 * PI * g->gravity->newton_constant * g->scale * pow(gas_cell(g, level), 2.0);
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

/** This rank's batches of a level. */
static uint32_t first_batch(const struct gas *g, int level) {
  return gas_first_batch(g, level, comm_rank());
}
static uint32_t end_batch(const struct gas *g, int level) {
  return gas_first_batch(g, level, comm_rank() + 1);
}

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

static void solve_batches(struct gas *g, int level, double weight, enum potential_mode mode,
                          bool massive) {
  if (mode != POTENTIAL_INTERPOLATE)
    send(g, level, mode == POTENTIAL_RELAX ? POTENTIAL_END : POTENTIAL_OLD);
  if (mode == POTENTIAL_CORRECT) send(g, level - 1, POTENTIAL_OLD);
  send_coarser(g, level, weight);
  for (uint32_t i = first_batch(g, level); i < end_batch(g, level); i++)
    gas_potential_submit(g, level, i, (struct potential_task){weight, mode, massive});
  note_change(g, level, mode == POTENTIAL_RELAX ? POTENTIAL_NEXT : POTENTIAL_END);
}

/** Solve the root level. */
static void solve_root(struct gas *g, bool massive) {
  root_poisson_solve(g, massive);
  note_change(g, 0, POTENTIAL_END);
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
    solve_root(g, massive);
  } else {
    solve_batches(g, level, weight, POTENTIAL_INTERPOLATE, massive);
    relax(g, level, weight, massive);
  }
}

/** Tell the coarser levels, down to `level`, what the finer ones found. */
static void share_levels(struct gas *g, int level) {
  for (int l = finest(g); l > level; l--) {
    gravity_send_around(g, l, 1.0);
    for (uint32_t i = first_batch(g, l); i < end_batch(g, l); i++)
      gas_share_submit(g, l, i, l < finest(g));
    gas_ghosts_submit(g, l, GHOST_SHARES);
    for (uint32_t i = first_batch(g, l - 1); i < end_batch(g, l - 1); i++)
      gas_sheet_submit(g, l - 1, i);
    note_change(g, l - 1, POTENTIAL_NEXT);
    swap(&g->level[l - 1], POTENTIAL_END, POTENTIAL_NEXT);
  }
}

/** Correct the levels from `level` on, the coarser ones first. */
static void correct_levels(struct gas *g, int level, double weight) {
  for (int l = level; l <= finest(g); l++) {
    const bool massive = l < finest(g);
    swap(&g->level[l], POTENTIAL_OLD, POTENTIAL_END);
    if (l == 0) {
      solve_root(g, massive);
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
  gravity_send_around(g, level, weight); /* for particles, too */
  if (g->empty) return;
  for (uint32_t i = first_batch(g, level); i < end_batch(g, level); i++)
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

void gravity_close(struct gas *g, int level, double weight) {
  bool changed = false;
  if (g->particles) gas_particles_settle(g, level, g->topology.finest);
  gravity_solve(g, level, weight);
  for (int l = level; l <= finest(g); l++) {
    kick(g, l, 0.5 * g->level[l].dt, l == level ? weight : 1.0);
    if (g->particles) gas_particles_close(g, l, l == level ? weight : 1.0);
  }
  restrict_levels(g, level);
  for (int l = finest(g); l >= level; l--)
    if (l < g->topology.finest && g->level[l].steps % g->regrid == 0)
      changed |= gas_regrid(g, l, l == level ? weight : 1.0, NULL);
  if (changed && g->particles) gas_particles_settle(g, level, g->topology.finest);
  if (changed) gravity_solve(g, level, weight);
}

void gravity_copy_potential(const struct gas *g, int level, uint32_t group, void *cells) {
  const struct gas_level *l = &g->level[level];
  const starpu_data_handle_t potential = l->batch[group / g->batch]
                                             .potential[l->potential[POTENTIAL_END]];
  handle_acquire(potential, STARPU_R);
  const double *cube = (const double *)starpu_vector_get_local_ptr(potential) +
                       group % g->batch * (size_t)GAS_GROUP_CELLS;
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    int at = 0;
    for (int c = 2; c >= 0; c--) /* z, y, x */
      at = GAS_GROUP_SIDE * at + GAS_PATCH_SIDE * (i / GAS_PATCH_CELLS >> c & 1) + (i >> 3 * c & 7);
    if (g->kernels->real_size == sizeof(double))
      ((double *)cells)[i] = cube[at];
    else
      ((float *)cells)[i] = (float)cube[at];
  }
  starpu_data_release(potential);
}
