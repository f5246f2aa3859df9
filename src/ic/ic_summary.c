/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of galaxies for people, from their tables. */
#include <gsl/gsl_math.h>
#include <string.h>

#include "galaxy_profile.h"
#include "galaxy_tables.h"
#include "ic_isolated.h"

static struct component_summary summarise_component(const struct galaxy_tables *t, size_t c) {
  const struct galaxy_component *one = &t->galaxy.component[c];
  struct component_summary s = {.type = one->type,
                                .particles = galaxy_first(t, c + 1) - galaxy_first(t, c),
                                .mass = one->mass,
                                .particle_mass = galaxy_particle_mass(t, c),
                                .scale = one->scale,
                                .half_mass_radius = galaxy_half_mass_radius(t, c)};
  memcpy(s.name, one->name, sizeof s.name);
  if (galaxy_is_disk(one)) s.least_q = galaxy_least_q(t, c, &s.least_q_radius);
  s.acceleration = gsl_pow_2(galaxy_circular_speed(t, s.half_mass_radius)) / s.half_mass_radius;
  return s;
}

/** The largest circular speed at radii from a tenth of the shortest scale on. */
static void find_fastest(const struct galaxy_tables *t, struct galaxy_summary *s) {
  const double finer = 1.02, within = 0.1;
  double shortest = t->r[GALAXY_RADII - 1];
  for (size_t c = 0; c < s->components; c++) shortest = fmin(shortest, s->component[c].scale);
  for (double r = within * shortest; r < t->r[GALAXY_RADII - 1]; r *= finer) {
    const double speed = galaxy_circular_speed(t, r);
    if (speed <= s->fastest) continue;
    s->fastest = speed;
    s->fastest_radius = r;
  }
}

struct galaxy_summary body_summary(const struct body *b) {
  const struct galaxy_tables *t = b->tables;
  struct galaxy_summary s = {.components = t->galaxy.count, .mass = galaxy_mass(t)};
  for (size_t c = 0; c < s.components; c++) s.component[c] = summarise_component(t, c);
  find_fastest(t, &s);
  return s;
}
