/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A checkpoint whose checksums are right may still hold what a run gone wrong has written. */
#include "checkpoint_values.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"

static const double speed_of_light = 299792.458; /* km/s */

/** @param high may be infinite: then any number from @p low on, but not infinity itself */
static void require(const char *path, const char *name, double value, double low, double high) {
  if (!(value >= low && value <= high && isfinite(value)))
    fail(EXIT_BAD_INPUT, "%s: %s is %g, expected a number from %g to %g", path, name, value, low,
         high);
}

void checkpoint_check_state(const char *path, const struct parameters *p,
                            const struct checkpoint_state *state) {
  const bool isolated = p->box.boundary == BOUNDARY_ISOLATED;
  /* Redshifts 10000 and 0; or times from 0 to 1e5 Myr. */
  const double first = isolated ? 0.0 : 0.99e-4,
               last = isolated ? cosmology_time(1.001e5) : 1.0 + 1e-9;
  require(path, "start_a", state->start_a, first, last);
  require(path, "a", state->a, state->start_a, last);
  require(path, "last_output", state->last_output, -1.0, state->a + 1e-9 * last);
  const struct {
    const char *name;
    int64_t value;
  } counts[] = {{"step", state->step},
                {"outputs_done", state->outputs_done},
                {"steps_since_sort", state->policy.steps_since_sort},
                {"steps_since_rebuild", state->policy.steps_since_rebuild},
                {"expansions", state->steps.expansions}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    require(path, counts[i].name, (double)counts[i].value, 0.0, 0x1p53);
  const double finest = isolated ? 0.0 : MESH_MOST;
  require(path, "mesh_cells", (double)state->mesh_cells, isolated ? 0.0 : 8.0, finest);
  require(path, "next_mesh_cells", (double)state->next_mesh_cells, (double)state->mesh_cells,
          finest);
  require(path, "base_dlna", state->steps.dlna, 0.0, 1.0);
  require(path, "sort_debt", state->policy.sort_debt, 0.0, HUGE_VAL);
  require(path, "fresh_work", state->policy.fresh_work, 0.0, HUGE_VAL);
  require(path, "loosening", state->policy.loosening, -HUGE_VAL, HUGE_VAL);
  require(path, "spread", state->policy.spread, 0.0, HUGE_VAL);
  require(path, "fresh_spread", state->policy.fresh_spread, 0.0, HUGE_VAL);
  for (int k = 0; k < RENEWALS; k++) {
    static const char *const debt[] = {"trees_debt", "groups_debt"},
                             *const work[] = {"new_trees_work", "new_groups_work"},
                             *const looseness[] = {"trees_looseness", "groups_looseness"};
    require(path, debt[k], state->renewals.of[k].debt, 0.0, HUGE_VAL);
    require(path, work[k], state->renewals.of[k].fresh_work, 0.0, HUGE_VAL);
    require(path, looseness[k], state->renewals.of[k].looseness, 0.0, HUGE_VAL);
  }
  require(path, "energy_a", state->energy.a, 0.0, last);
  require(path, "energy_kinetic", state->energy.kinetic, 0.0, HUGE_VAL);
  require(path, "energy_work", state->energy.work, isolated ? -HUGE_VAL : 0.0, HUGE_VAL);
  require(path, "energy_first", state->energy.first, -HUGE_VAL, HUGE_VAL);
  require(path, "wall_seconds", state->wall_seconds, 0.0, HUGE_VAL);
}

void checkpoint_check_sizes(const char *path, const struct parameters *p, uint64_t particles,
                            uint64_t blocks, double box, double mass) {
  require(path, "the number of particles", (double)particles, 1.0, 0x1p48); /* of npart_side */
  require(path, "the number of blocks", (double)blocks, 1.0, (double)particles);
  if (p->box.boundary == BOUNDARY_ISOLATED) {
    require(path, "box", box, 0x1p-20, 1e6);
    require(path, "mass", mass, DBL_MIN, FLT_MAX);
    return;
  }
  require(path, "box", box, 1e-3, 1e6); /* of box.size, Mpc/h */
  const double mean = cosmology_from(p).omega_m * RHO_CRITICAL * pow(box, 3) / (double)particles;
  require(path, "mass", mass, 0.99 * mean, 1.01 * mean); /* as Gadget files are taken */
}

/** A column of floats in a block. */
static void check_floats(const char *path, const struct particle_column *column,
                         const struct particle_block *b, const float *values, double most) {
  for (size_t c = 0; c < column->components; c++, values += b->count)
    for (size_t i = 0; i < b->count; i++)
      if (!(fabs((double)values[i]) <= most)) /* false for NaN */
        fail(EXIT_BAD_INPUT, "%s: %s of particle %" PRIu64 " is %g, expected at most %g", path,
             column->name, b->id[i], (double)values[i], most);
}

static void check_column(const char *path, const struct particles *s, int k, double most) {
  const float *values = particles_column(s, k);
  for (size_t g = 0; g < s->blocks; g++) {
    const struct particle_block b = particles_block(s, g);
    check_floats(path, &particle_columns[k], &b, values + b.first * particle_columns[k].components,
                 most);
  }
}

void checkpoint_check_particles(const char *path, const struct parameters *p,
                                const struct particles *s, double a) {
  const double scale = p->box.boundary == BOUNDARY_ISOLATED ? 1.0 : a;
  for (size_t i = 0; particles_have(s, COLUMN_rung) && i < s->count; i++)
    if (s->rung[i] > RUNG_MOST)
      fail(EXIT_BAD_INPUT, "%s: rung of particle %" PRIu64 " is %d, expected at most %d", path,
           s->id[i], s->rung[i], RUNG_MOST);
  for (size_t i = 0; particles_have(s, COLUMN_type) && i < s->count; i++)
    if (s->type[i] >= PARTICLE_TYPES)
      fail(EXIT_BAD_INPUT, "%s: type of particle %" PRIu64 " is %d, expected at most %d", path,
           s->id[i], s->type[i], PARTICLE_TYPES - 1);
  for (size_t i = 0; particles_have(s, COLUMN_relative_mass) && i < s->count; i++)
    if (!(s->relative_mass[i] > 0.0F && s->relative_mass[i] <= FLT_MAX))
      fail(EXIT_BAD_INPUT, "%s: relative_mass of particle %" PRIu64 " is %g, expected above 0",
           path, s->id[i], (double)s->relative_mass[i]);
  FOR_PARTICLE_COLUMNS(s, k)
  if (particle_columns[k].type == COLUMN_FLOAT)
    check_column(path, s, k, k == COLUMN_momentum ? scale * speed_of_light : FLT_MAX); /* p = a v */
}
