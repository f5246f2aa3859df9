/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of galaxies for people, from their tables. */
#include <gsl/gsl_math.h>
#include <stdio.h>
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

static struct galaxy_summary summarise_model(const struct galaxy_tables *t) {
  struct galaxy_summary s = {.components = t->galaxy.count, .mass = galaxy_mass(t)};
  for (size_t c = 0; c < s.components; c++) s.component[c] = summarise_component(t, c);
  find_fastest(t, &s);
  return s;
}

static struct galaxy_summary summarise_file(const struct gadget_set *set) {
  struct galaxy_summary s = {0};
  for (int type = 0; type < GADGET_TYPES; type++) {
    if (set->of_type[type] == 0) continue;
    struct component_summary *c = &s.component[s.components++];
    *c = (struct component_summary){.type = type, .particles = set->of_type[type]};
    snprintf(c->name, sizeof c->name, "of the file");
  }
  return s;
}

struct galaxy_summary body_summary(const struct body *b) {
  if (b->has_rows)
    return (struct galaxy_summary){
        .components = 1,
        .component = {{.name = "of the file", .type = PARTICLE_HALO, .particles = b->count}}};
  return b->tables ? summarise_model(b->tables) : summarise_file(&b->set);
}
