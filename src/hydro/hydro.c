/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/hydro/hydro.h"

#include <math.h>

#include "photons/base/comm.h"
#include "photons/hydro/codelets.h"

static void solve_batch(struct gas *g, int level, uint32_t batch, struct hydro_step s) {
  if (g->tasks.fused) {
    gas_advance_submit(g, level, batch, s.dt, s.begin, s.end - s.begin, s.least_heat);
    return;
  }
  gas_solve_submit(g, level, batch, s.dt, s.least_heat,
                   gas_prepare_submit(g, level, batch, s.begin));
  if (level > 0) gas_close_submit(g, level, batch, s.end - s.begin, s.begin == 0.0);
}

/** Solve the batches that need ghosts, or the others. */
static void solve_batches(struct gas *g, int level, bool inner, struct hydro_step s) {
  const struct gas_level *l = &g->level[level];
  for (uint32_t k = 0; k < l->own; k++)
    if (gas_batch(g, level, l->turn[k])->inner == inner) solve_batch(g, level, l->turn[k], s);
}

/** Batches that need no ghosts come first where ghosts are to be sent: they keep GPUs busy meanwhile. Else
 * they come last, so that GPUs are busy while the new cells of the others are sent. */
void hydro_solve(struct gas *g, int level, struct hydro_step s) {
  const bool sends = g->level[level].stale || (level > 0 && g->level[level - 1].stale);
  if (g->scheme.particles_alone) return;
  solve_batches(g, level, sends, s);
  gas_send_cells_around(g, level);
  solve_batches(g, level, !sends, s);
  g->level[level].now = 1 - g->level[level].now;
  g->level[level].stale = true;
}

static void restrict_level(struct gas *g, int level) {
  gas_ghosts_submit(g, level + 1, GHOST_MEANS);
  for (uint32_t k = 0; k < g->level[level].own; k++) {
    const uint32_t i = g->level[level].turn[k];
    if (gas_batch(g, level, i)->sons.count > 0) gas_restrict_submit(g, level, i);
  }
  g->level[level].stale = true;
}

/** Fluxes change cells of patches that are not refined, and means those of the others: messages may bring the
 * means before the fluxes. */
void hydro_correct(struct gas *g, int level, struct hydro_step s) {
  if (g->scheme.particles_alone || !topology_has_groups(&g->topology, level + 1)) return;
  if (!g->scheme.fix_fluxes) {
    restrict_level(g, level);
    return;
  }
  gas_ghosts_submit(g, level + 1, GHOST_SIDES);
  gas_ghosts_submit(g, level + 1, GHOST_MEANS);
  for (uint32_t k = 0; k < g->level[level].own; k++) {
    const uint32_t i = g->level[level].turn[k];
    if (gas_batch(g, level, i)->fine.count > 0)
      gas_fix_submit(g, level, i, s.dt, s.least_heat);
    else if (gas_batch(g, level, i)->sons.count > 0)
      gas_restrict_submit(g, level, i);
  }
  g->level[level].stale = true;
}

void hydro_restrict(struct gas *g, int level) {
  if (g->scheme.particles_alone) return;
  const bool begun = gas_chain_begin_levels(g);
  for (int l = topology_levels(&g->topology) - 2; l >= level; l--) restrict_level(g, l);
  gas_chain_end(g, begun);
}

double hydro_fastest(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  double fastest = 0.0;
  for (uint32_t i = 0; i < l->mine.end - l->mine.first; i++) fastest = fmax(fastest, l->speed[i]);
  comm_max_double(&fastest, 1);
  return fastest;
}
