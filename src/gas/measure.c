/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Totals over the box, and what limits the next step. */
#include <math.h>

#include "photons/amr/totals.h"
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

/* What groups add to totals. */
enum { ENERGY, VARIABLES }; /* the variables as in memory */
enum { SPEED, ACCELERATION };
enum { FIRST_ORDER, FAULTS };

static void add_group(const struct gas *g, int level, uint32_t group, struct group_totals *t) {
  const struct gas_level *l = &g->level[level];
  const uint32_t own = gas_own_number(l, group);
  for (unsigned v = 0; v < g->scheme.variables; v++)
    exact_add(&t->sum[VARIABLES + v], l->sum[own][v]);
  if (!g->scheme.particles_alone) t->most[SPEED] = fmax(t->most[SPEED], l->speed[own]);
  if (g->gravity) {
    exact_add(&t->sum[ENERGY], l->field[own].energy);
    t->most[ACCELERATION] = fmax(t->most[ACCELERATION], l->field[own].acceleration);
  }
  t->count[FAULTS] += l->fault[own].patch >= 0;
  t->count[FIRST_ORDER] += l->fault[own].first_order;
  l->fault[own].first_order = 0;
}

/** Note the Courant number of a level in its last step, unless its next one would be divided. @return
 * the longest step of the root level at a Courant number of 1 */
static double account_speed(const struct gas *g, int level, double speed, struct gas_totals *t) {
  const double cell = gas_cell(g, level), courant = g->level[level].dt * speed / cell;
  if (courant > t->courant && !gas_divides(g, level)) {
    t->courant = courant;
    t->courant_level = level;
  }
  return (g->scheme.individual ? 1 << level : 1) * cell / speed;
}

/** Account for a level. @return the longest step of the root level that it allows on this rank */
static double account_level(struct gas *g, int level, struct gas_totals *t) {
  const struct level_totals all = gas_total(g, level, VARIABLES + g->scheme.variables, add_group);
  const double cell = gas_cell(g, level), volume = cell * cell * cell,
               steps = g->scheme.individual ? 1 << level : 1, acceleration = all.most[ACCELERATION];
  double longest = steps * packages_longest_step(g, level);
  if (all.count[FAULTS] > 0) gas_require_sound(g);
  t->first_order += (double)all.count[FIRST_ORDER];
  for (unsigned v = 0; v < g->scheme.variables; v++)
    t->conserved[gas_variable_at(&g->scheme.physics, v)] += all.sum[VARIABLES + v] * volume;
  t->potential_energy += all.sum[ENERGY] * volume;
  if (g->scheme.particles_alone) return longest;
  if (acceleration > 0.0) longest = fmin(longest, steps * sqrt(2.0 * cell / acceleration));
  return fmin(longest, account_speed(g, level, all.most[SPEED], t));
}

/** Take the bytes of messages between homes of a rank since the last call. Collective. */
static double take_home_bytes(struct gas *g) {
  double bytes = (double)g->counts.home_bytes;
  g->counts.home_bytes = 0;
  comm_sum_double(&bytes, 1);
  return bytes;
}

/** With GPUs one task measures a batch. */
static void measure_batch(struct gas *g, int level, uint32_t batch) {
  const bool begun = gas_chain_begin(g);
  if (!g->scheme.particles_alone) gas_cfl_submit(g, level, batch, true);
  gas_sum_submit(g, level, batch);
  if (g->gravity) gas_field_submit(g, level, batch);
  if (g->particles) gas_particles_measure_begin(g, level, batch);
  gas_chain_end(g, begun);
}

void gas_measure_begin(struct gas *g) {
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const struct gas_level *l = &g->level[level];
    if (g->gravity) gravity_send_around(g, level, 1.0);
    for (uint32_t k = 0; k < l->own; k++) measure_batch(g, level, l->turn[k]);
  }
  g->measured = true;
}

struct gas_totals gas_measure(struct gas *g) {
  struct gas_totals t = {.first_order = (double)g->counts.first_order};
  double limit = -INFINITY; /* minus the longest step */
  if (!g->measured) gas_measure_begin(g);
  message_wait();
  g->measured = false;
  g->counts.first_order = 0;
  comm_sum_double(&t.first_order, 1);
  t.home_bytes = take_home_bytes(g);
  for (int level = 0; level < topology_levels(&g->topology); level++)
    limit = fmax(limit, -account_level(g, level, &t));
  comm_max_double(&limit, 1);
  t.longest_step = -limit;
  if (g->particles) {
    t.particles = gas_particles_measure(g);
    t.longest_step = fmin(t.longest_step, t.particles.longest_step);
  }
  return t;
}
