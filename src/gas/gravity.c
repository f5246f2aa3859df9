/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gravity.h"

#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/codelets.h"
#include "photons/gas/evolve.h"
#include "photons/runtime/handle.h"

enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };
enum { SLOPE_BYTES = GAS_FACES * GAS_FACE_CELLS * sizeof(double) };

struct self_gravity *gravity_make(const struct gas *g, const struct parameters *p) {
  if (p->gas.gravity == GAS_GRAVITY_NONE) return NULL;
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
  return p->gas.gravity == GAS_GRAVITY_NONE ? 0.0 : (POTENTIALS + 1.0) * CUBE_BYTES + SLOPE_BYTES;
}

void gravity_make_batch(struct gas_batch *b) {
  for (int i = 0; i < POTENTIALS; i++) b->potential[i] = handle_make(b->count, CUBE_BYTES);
  b->sheets = handle_make(b->count, CUBE_BYTES);
  b->slopes = handle_make(b->count, SLOPE_BYTES);
}

void gravity_drop_batch(struct gas_batch *b) {
  for (int i = 0; i < POTENTIALS; i++) handle_drop(&b->potential[i]);
  handle_drop(&b->sheets);
  handle_drop(&b->slopes);
}

static void swap(struct gas_level *l, enum gas_potential a, enum gas_potential b) {
  const int kept = l->potential[a];
  l->potential[a] = l->potential[b];
  l->potential[b] = kept;
}

static int finest(const struct gas *g) { return topology_levels(&g->topology) - 1; }

/** Solve one level, from the next coarser one. */
static void solve_level(struct gas *g, int level, double weight, bool massive) {
  struct gas_level *l = &g->level[level];
  if (level == 0) {
    root_poisson_solve(g, massive);
    return;
  }
  for (int k = 0; k <= g->gravity->relaxations; k++) {
    for (uint32_t i = 0; i < l->batch_count; i++)
      gas_potential_submit(g, level, i, (struct potential_task){weight, k > 0, massive});
    if (k > 0) swap(l, POTENTIAL_END, POTENTIAL_NEXT);
  }
}

void gravity_solve(struct gas *g, int level, double weight) {
  const int last = finest(g), corrections = last > level ? g->gravity->corrections : 0;
  for (int k = 0; k <= corrections; k++) {
    for (int l = last - 1; k > 0 && l >= level; l--)
      for (uint32_t i = 0; i < g->level[l].batch_count; i++)
        if (g->level[l].batch[i].fine.count > 0) gas_sheet_submit(g, l, i);
    for (int l = level; l <= last; l++) solve_level(g, l, l == level ? weight : 1.0, k > 0);
  }
}

static void kick(struct gas *g, int level, double dt, double weight) {
  for (uint32_t i = 0; i < g->level[level].batch_count; i++)
    gas_kick_submit(g, level, i, dt, weight);
}

void gravity_open(struct gas *g, int level, double dt, double weight) {
  kick(g, level, 0.5 * dt, weight);
}

void gravity_predict(struct gas *g, int level, double weight) {
  swap(&g->level[level], POTENTIAL_BEGIN, POTENTIAL_END);
  if (g->individual && level < finest(g))
    solve_level(g, level, weight, g->gravity->corrections > 0);
}

/** Refined patches get the means of the finer cells, on these levels. */
static void restrict_levels(struct gas *g, int level) {
  for (int l = finest(g) - 1; l >= level; l--)
    for (uint32_t i = 0; i < g->level[l].batch_count; i++)
      if (g->level[l].batch[i].fine.count > 0) gas_restrict_submit(g, l, i);
}

void gravity_close(struct gas *g, int level, double dt, double weight) {
  bool changed = false;
  gravity_solve(g, level, weight);
  for (int l = level; l <= finest(g); l++)
    kick(g, l, 0.5 * dt / (g->individual ? 1 << (l - level) : 1), l == level ? weight : 1.0);
  restrict_levels(g, level);
  for (int l = finest(g); l >= level; l--)
    if (l < g->topology.finest && g->level[l].steps % g->regrid == 0)
      changed |= gas_regrid(g, l, l == level ? weight : 1.0, NULL);
  if (changed) gravity_solve(g, level, weight);
}
