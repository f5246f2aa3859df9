/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks of particles, level by level: densities, kicks and drifts, and sums. */
#include <math.h>

#include "particle_migrate.h"
#include "photons/amr/totals.h"
#include "photons/base/comm.h"
#include "photons/pm/codelets.h"
#include "photons/pm/particles.h"
#include "photons/runtime/engine.h"

static void deposit_level(struct gas *g, int level) {
  for (uint32_t k = 0; k < g->level[level].own; k++)
    gas_deposit_submit(g, level, g->level[level].turn[k], false);
  gas_ghosts_submit(g, level, GHOST_MATTER);
}

void gas_particles_collect(struct gas *g, int first, int end) {
  for (int l = end - 1; l >= first; l--) {
    gas_ghosts_submit(g, l + 1, GHOST_MATTER_MEANS);
    for (uint32_t k = 0; k < g->level[l].own; k++) {
      const uint32_t i = g->level[l].turn[k];
      if (gas_batch(g, l, i)->sons.count > 0) gas_collect_submit(g, l, i);
    }
  }
}

void gas_particles_deposit(struct gas *g, int level) {
  const int finest = topology_levels(&g->topology) - 1;
  for (int l = level; l <= finest; l++) deposit_level(g, l);
  gas_particles_collect(g, level, finest);
}

/** Submit a task of a batch that has particles. */
static void push_batch(struct gas *g, int level, uint32_t batch, struct push_task how) {
  if (particle_batch_count(&g->particles->level[level], batch) > 0)
    gas_push_submit(g, level, batch, how);
}

static void push_level(struct gas *g, int level, struct push_task how) {
  for (uint32_t k = 0; k < g->level[level].own; k++)
    push_batch(g, level, g->level[level].turn[k], how);
}

/* What groups add to totals. */
enum { MASS, MOMENTUM, KINETIC = MOMENTUM + 3, SUMS };
enum { SPEED, ACCELERATION };

static void add_group(const struct gas *g, int level, uint32_t group, struct group_totals *t) {
  const struct particle_level *l = &g->particles->level[level];
  const struct particle_sums *s = &l->sums[group - l->own_first];
  exact_add(&t->sum[MASS], s->mass);
  for (int c = 0; c < 3; c++) exact_add(&t->sum[MOMENTUM + c], s->momentum[c]);
  exact_add(&t->sum[KINETIC], s->kinetic_energy);
  t->most[SPEED] = fmax(t->most[SPEED], s->speed);
  t->most[ACCELERATION] = fmax(t->most[ACCELERATION], s->acceleration);
}

/** Add the particles of a level to the totals. */
static void add_level(const struct gas *g, int level, struct particle_totals *t) {
  const struct level_totals of_level = gas_total(g, level, SUMS, add_group);
  const double cell = gas_cell(g, level), steps = g->scheme.individual ? 1 << level : 1,
               speed = of_level.most[SPEED], acceleration = of_level.most[ACCELERATION];
  t->mass += of_level.sum[MASS];
  for (int c = 0; c < 3; c++) t->momentum[c] += of_level.sum[MOMENTUM + c];
  t->kinetic_energy += of_level.sum[KINETIC];
  if (speed > 0.0) t->longest_step = fmin(t->longest_step, steps * cell / speed);
  if (acceleration > 0.0)
    t->longest_step = fmin(t->longest_step, steps * sqrt(2.0 * cell / acceleration));
}

bool gas_particles_need_groups(void) { return !engine_gpu() || comm_size() > 1; }

void gas_particles_open(struct gas *g, int level, double dt, double weight, bool list) {
  push_level(g, level,
             (struct push_task){.kind = PUSH_OPENS,
                                .step = {.dt = dt, .end = weight},
                                .leaving = list ? leaving_with_drift(g, level) : NULL});
}

void gas_particles_close(struct gas *g, int level, struct gravity_step step) {
  push_level(g, level, (struct push_task){.kind = PUSH_CLOSES, .step = step});
}

void gas_particles_measure_begin(struct gas *g, int level, uint32_t batch) {
  push_batch(g, level, batch, (struct push_task){.kind = PUSH_MEASURES, .step.end = 1.0});
}

struct particle_totals gas_particles_measure(struct gas *g) {
  struct particle_totals t = {.longest_step = INFINITY};
  for (int level = 0; level < topology_levels(&g->topology); level++) add_level(g, level, &t);
  return t;
}
