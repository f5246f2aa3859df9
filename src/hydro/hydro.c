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

/** Batches that need no ghosts come first: they keep GPUs busy while ghosts are packed and sent. */
void hydro_solve(struct gas *g, int level, struct hydro_step s) {
  const struct gas_batch *batch = g->level[level].batch;
  const uint32_t begin = gas_own_begin(g, level), end = gas_own_end(g, level);
  if (g->scheme.particles_alone) return;
  for (uint32_t i = begin; i < end; i++)
    if (batch[i].inner) solve_batch(g, level, i, s);
  gas_send_cells_around(g, level);
  for (uint32_t i = begin; i < end; i++)
    if (!batch[i].inner) solve_batch(g, level, i, s);
  g->level[level].now = 1 - g->level[level].now;
  g->level[level].stale = true;
}

static void restrict_level(struct gas *g, int level) {
  gas_ghosts_submit(g, level + 1, GHOST_MEANS);
  for (uint32_t i = gas_own_begin(g, level); i < gas_own_end(g, level); i++)
    if (g->level[level].batch[i].sons.count > 0) gas_restrict_submit(g, level, i);
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
  for (uint32_t i = gas_own_begin(g, level); i < gas_own_end(g, level); i++)
    if (g->level[level].batch[i].fine.count > 0)
      gas_fix_submit(g, level, i, s.dt, s.least_heat);
    else if (g->level[level].batch[i].sons.count > 0)
      gas_restrict_submit(g, level, i);
  g->level[level].stale = true;
}

void hydro_restrict(struct gas *g, int level) {
  if (g->scheme.particles_alone) return;
  for (int l = topology_levels(&g->topology) - 2; l >= level; l--) restrict_level(g, l);
}

double hydro_fastest(const struct gas *g, int level) {
  const uint32_t end = gas_first_group(g, level, comm_rank() + 1);
  double fastest = 0.0;
  for (uint32_t i = gas_first_group(g, level, comm_rank()); i < end; i++)
    fastest = fmax(fastest, g->level[level].speed[i]);
  comm_max_double(&fastest, 1);
  return fastest;
}
