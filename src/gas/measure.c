/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Totals over the box, and what limits the next step. */
#include <math.h>

#include "photons/base/comm.h"
#include "photons/gas/evolve.h"
#include "photons/gas/packages.h"
#include "photons/hydro/codelets.h"
#include "photons/hydro/hydro.h"
#include "photons/potential/codelets.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/message.h"

/** The length of steps was chosen before the step of the root level. In its course gravity and sources can
 * make gas too fast. */
bool gas_divides(const struct gas *g, int level) {
  const bool forces = g->gravity || packages_have_sources(g);
  return level > 0 && forces && g->scheme.individual && !g->scheme.particles_alone;
}

/** Note the Courant number of a level in its last step, unless its next one would be divided. @return
 * the longest step of the root level at a Courant number of 1 */
static double account_speed(const struct gas *g, int level, struct gas_totals *t) {
  const double cell = gas_cell(g, level), speed = hydro_fastest(g, level),
               courant = g->level[level].dt * speed / cell;
  if (courant > t->courant && !gas_divides(g, level)) {
    t->courant = courant;
    t->courant_level = level;
  }
  return (g->scheme.individual ? 1 << level : 1) * cell / speed;
}

/** Take the count of fluxes of first order since the last call. Collective. */
static double take_first_order(struct gas *g) {
  double count = (double)g->counts.first_order;
  g->counts.first_order = 0;
  for (int level = 0; level < topology_levels(&g->topology); level++)
    for (uint32_t i = 0; i < g->level[level].groups; i++) {
      count += (double)g->level[level].fault[i].first_order;
      g->level[level].fault[i].first_order = 0;
    }
  comm_sum_double(&count, 1);
  return count;
}

/** Take the bytes of messages between homes of a rank since the last call. Collective. */
static double take_home_bytes(struct gas *g) {
  double bytes = (double)g->counts.home_bytes;
  g->counts.home_bytes = 0;
  comm_sum_double(&bytes, 1);
  return bytes;
}

void gas_measure_begin(struct gas *g) {
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const struct gas_level *l = &g->level[level];
    if (g->gravity) gravity_send_around(g, level, 1.0);
    for (uint32_t k = 0; k < l->own; k++) {
      if (!g->scheme.particles_alone) gas_cfl_submit(g, level, l->turn[k], true);
      gas_sum_submit(g, level, l->turn[k]);
      if (g->gravity) gas_field_submit(g, level, l->turn[k]);
    }
  }
  g->measured = true;
}

struct gas_totals gas_measure(struct gas *g) {
  struct gas_totals t = {0};
  double limit = -INFINITY; /* minus the longest step */
  const int levels = topology_levels(&g->topology);
  if (!g->measured) gas_measure_begin(g);
  message_wait();
  g->measured = false;
  gas_require_sound(g);
  t.first_order = take_first_order(g);
  t.home_bytes = take_home_bytes(g);
  for (int level = 0; level < levels; level++) {
    const double cell = gas_cell(g, level), steps = g->scheme.individual ? 1 << level : 1;
    const struct gas_level *l = &g->level[level];
    if (!g->scheme.particles_alone) limit = fmax(limit, -account_speed(g, level, &t));
    limit = fmax(limit, -steps * packages_longest_step(g, level));
    gas_gather(g, level, l->sum, sizeof *l->sum);
    for (uint32_t i = 0; i < g->topology.level[level].count; i++)
      for (unsigned v = 0; v < g->scheme.variables; v++)
        t.conserved[gas_variable_at(&g->scheme.physics, v)] += l->sum[i][v] * cell * cell * cell;
    if (!g->gravity) continue;
    gas_gather(g, level, l->field, sizeof *l->field);
    for (uint32_t i = 0; i < g->topology.level[level].count; i++) {
      const struct gas_field *field = &l->field[i];
      t.potential_energy += field->energy * cell * cell * cell;
      if (field->acceleration > 0.0 && !g->scheme.particles_alone)
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
