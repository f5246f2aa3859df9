/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Masses, densities and potentials of a galaxy, from its tables. */
#include <math.h>

#include "galaxy_disk.h"
#include "galaxy_profile.h"
#include "galaxy_tables.h"

size_t galaxy_first(const struct galaxy_tables *t, size_t c) { return t->first[c]; }

double galaxy_mass(const struct galaxy_tables *t) { return t->mass[GALAXY_RADII - 1]; }

double galaxy_enclosed_mass(const struct galaxy_tables *t, size_t c, double r) {
  return galaxy_power_between(t->r, t->shells[c]->mass, GALAXY_RADII, r);
}

double galaxy_spheres_mass(const struct galaxy_tables *t, double r) {
  double mass = 0.0;
  for (size_t c = 0; c < t->galaxy.count; c++)
    if (!galaxy_is_disk(&t->galaxy.component[c])) mass += galaxy_enclosed_mass(t, c, r);
  return mass;
}

double galaxy_half_mass_radius(const struct galaxy_tables *t, size_t c) {
  return galaxy_radius_of_mass(t->r, t->shells[c]->mass, GALAXY_RADII,
                               0.5 * t->galaxy.component[c].mass);
}

double galaxy_shape(const struct galaxy_component *c, double r) {
  if (r > galaxy_profile_end(c) * (1.0 + 1e-12)) return 0.0;
  return galaxy_is_disk(c) ? galaxy_disk_average(c, r) : galaxy_profile_at(c, r).density;
}

double galaxy_density(const struct galaxy_tables *t, size_t c, double r) {
  return t->shells[c]->amplitude * galaxy_shape(&t->galaxy.component[c], r);
}

double galaxy_potential(const struct galaxy_tables *t, double r) {
  const double end = t->r[GALAXY_RADII - 1], depth = t->depth[GALAXY_RADII - 1];
  if (r >= end) return -GALAXY_GRAVITY * galaxy_mass(t) / r;
  const double ln_r = log(fmax(r, t->r[0]));
  return galaxy_between(t->depth, galaxy_find(t->ln_r, GALAXY_RADII, ln_r)) - depth -
         GALAXY_GRAVITY * galaxy_mass(t) / end;
}
