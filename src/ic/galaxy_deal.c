/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many particles each component of a galaxy has, and their masses. */
#include <math.h>
#include <stdio.h>

#include "galaxy_tables.h"

/** What the components without numbers of their own share. */
struct rest {
  size_t components, particles;
  double mass;
};

/** @param[out] own  particles of the other components */
static struct rest rest_of(const struct galaxy *galaxy, size_t *own) {
  struct rest rest = {0};
  *own = 0;
  for (size_t c = 0; c < galaxy->count; c++) {
    *own += galaxy->component[c].particles;
    if (galaxy->component[c].particles > 0) continue;
    rest.components++;
    rest.mass += galaxy->component[c].mass;
  }
  return rest;
}

/** Numbers in proportion to the masses; particles that are left over go to the largest
 * remainders. */
static void share(const struct galaxy *galaxy, const struct rest *rest,
                  size_t count[GALAXY_COMPONENTS]) {
  double remainder[GALAXY_COMPONENTS];
  size_t left = rest->particles;
  for (size_t c = 0; c < galaxy->count; c++) {
    count[c] = galaxy->component[c].particles;
    remainder[c] = -HUGE_VAL;
    if (count[c] > 0) continue;
    const double part = (double)rest->particles * (galaxy->component[c].mass / rest->mass);
    count[c] = (size_t)part < left ? (size_t)part : left;
    remainder[c] = part - floor(part);
    left -= count[c];
  }
  for (; left > 0; left--) {
    size_t largest = 0;
    for (size_t c = 1; c < galaxy->count; c++)
      if (remainder[c] > remainder[largest]) largest = c;
    count[largest]++;
    remainder[largest] -= 1.0;
  }
}

/** Whether the numbers go together. */
static bool fit(const struct rest *rest, size_t own, size_t particles, char *reason, size_t size) {
  if (particles == 0 && rest->components > 0)
    snprintf(reason, size, "galaxy: no particles");
  else if (rest->components == 0 && particles != 0 && particles != own)
    snprintf(reason, size, "galaxy: its components have %zu particles, and %zu are asked for", own,
             particles);
  else if (own > 0 && particles != 0 && particles < own + rest->components)
    snprintf(reason, size,
             "galaxy: components with numbers of their own have %zu particles; of %zu in all "
             "(particles) too few are left for the other components",
             own, particles);
  else
    return true;
  return false;
}

bool galaxy_deal(struct galaxy_tables *t, size_t particles, char *reason, size_t size) {
  size_t own, count[GALAXY_COMPONENTS];
  struct rest rest = rest_of(&t->galaxy, &own);
  if (!fit(&rest, own, particles, reason, size)) return false;
  rest.particles = rest.components > 0 ? particles - own : 0;
  share(&t->galaxy, &rest, count);
  for (size_t c = 0; c < t->galaxy.count; c++) t->first[c + 1] = t->first[c] + count[c];
  return true;
}

void galaxy_weigh(struct galaxy_tables *t) {
  size_t own;
  const struct rest rest = rest_of(&t->galaxy, &own);
  const double all = own > 0 ? rest.mass : galaxy_mass(t);
  for (size_t c = 0; c < t->galaxy.count; c++) {
    const struct galaxy_component *one = &t->galaxy.component[c];
    t->particle_mass[c] = one->particles > 0 ? one->mass / (double)one->particles
                                             : all / (double)(t->first[t->galaxy.count] - own);
  }
}

double galaxy_particle_mass(const struct galaxy_tables *t, size_t c) { return t->particle_mass[c]; }

bool galaxy_masses_differ(const struct galaxy_tables *t) {
  for (size_t c = 1; c < t->galaxy.count; c++)
    if (t->particle_mass[c] != t->particle_mass[0]) return true;
  return false;
}
