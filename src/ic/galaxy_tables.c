/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A galaxy's masses and potential on a grid of radii. */
#include "galaxy_tables.h"

#include <float.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "galaxy_disk.h"
#include "galaxy_profile.h"
#include "photons/base/error.h"

/* From far inside the smallest structure to the end of the largest component. */
static void make_radii(struct galaxy_tables *t) {
  double shortest = INFINITY, end = DBL_MIN;
  for (size_t c = 0; c < t->galaxy.count; c++) {
    const struct galaxy_component *one = &t->galaxy.component[c];
    shortest = fmin(shortest, galaxy_is_disk(one) ? one->height : one->scale);
    end = fmax(end, galaxy_profile_end(one));
  }
  const double first = log(1e-4 * shortest), step = (log(end) - first) / (GALAXY_RADII - 1);
  for (size_t k = 0; k < GALAXY_RADII; k++) {
    t->ln_r[k] = first + (double)k * step;
    t->r[k] = exp(t->ln_r[k]);
  }
}

/* Within the first radius the density is a power of r. */
static void make_shells(const struct galaxy_tables *t, size_t c, struct galaxy_shells *s) {
  const struct galaxy_component *one = &t->galaxy.component[c];
  double *per_step = allocate(GALAXY_RADII, sizeof *per_step, "masses of a galaxy");
  for (size_t k = 0; k < GALAXY_RADII; k++) {
    s->density[k] = galaxy_shape(one, t->r[k]);
    per_step[k] = 4.0 * M_PI * gsl_pow_3(t->r[k]) * s->density[k];
  }
  const double growth = log(per_step[1] / per_step[0]) / (t->ln_r[1] - t->ln_r[0]);
  galaxy_integrate(t->ln_r, per_step, GALAXY_RADII, per_step[0] / growth, s->mass);
  free(per_step);
  s->amplitude = one->mass / s->mass[GALAXY_RADII - 1];
  for (size_t k = 0; k < GALAXY_RADII; k++) {
    s->density[k] *= s->amplitude;
    s->mass[k] *= s->amplitude;
  }
}

/* The total mass, its slope, and the potential. */
static void make_potential(struct galaxy_tables *t) {
  double *per_step = allocate(GALAXY_RADII, sizeof *per_step, "potential of a galaxy");
  for (size_t k = 0; k < GALAXY_RADII; k++) {
    double density = 0.0;
    for (size_t c = 0; c < t->galaxy.count; c++) {
      t->mass[k] += t->shells[c]->mass[k];
      density += t->shells[c]->density[k];
    }
    t->slope[k] = 4.0 * M_PI * gsl_pow_3(t->r[k]) * density / t->mass[k];
    per_step[k] = GALAXY_GRAVITY * t->mass[k] / t->r[k];
  }
  galaxy_integrate(t->ln_r, per_step, GALAXY_RADII, 0.0, t->depth);
  free(per_step);
}

static bool check(const struct galaxy *galaxy, char *reason, size_t size) {
  if (galaxy->count == 0 || galaxy->count > GALAXY_COMPONENTS) {
    snprintf(reason, size, "galaxy: %zu components; 1 to %d are possible", galaxy->count,
             GALAXY_COMPONENTS);
    return false;
  }
  for (size_t c = 0; c < galaxy->count; c++)
    if (!galaxy_component_check(&galaxy->component[c], reason, size)) return false;
  return true;
}

struct galaxy_tables *galaxy_tables_create(const struct galaxy *galaxy, size_t particles,
                                           char *reason, size_t size) {
  if (!check(galaxy, reason, size)) return NULL;
  struct galaxy_tables *t = allocate(1, sizeof *t, "tables of a galaxy");
  t->galaxy = *galaxy;
  if (!galaxy_deal(t, particles, reason, size)) {
    free(t);
    return NULL;
  }
  make_radii(t);
  for (size_t c = 0; c < galaxy->count; c++) {
    t->shells[c] = allocate(1, sizeof *t->shells[c], "tables of a galaxy");
    make_shells(t, c, t->shells[c]);
  }
  make_potential(t);
  galaxy_weigh(t);
  t->disks = galaxy_disks_create(galaxy);
  const bool balanced = !t->disks || galaxy_disks_heat(t, reason, size);
  if (balanced && galaxy_invert(t, reason, size)) return t;
  galaxy_tables_free(t);
  return NULL;
}

void galaxy_tables_free(struct galaxy_tables *t) {
  if (!t) return;
  for (size_t c = 0; c < t->galaxy.count; c++) free(t->shells[c]);
  galaxy_disks_free(t->disks);
  free(t);
}

/* W = -int G M dM/r of a spherical mass, given M and dM/dln r. */
static double spherical_energy(const struct galaxy_tables *t, bool disks_only) {
  double *per_step = allocate(2 * GALAXY_RADII, sizeof *per_step, "energy of a galaxy");
  for (size_t k = 0; k < GALAXY_RADII; k++) {
    double mass = 0.0, density = 0.0;
    for (size_t c = 0; c < t->galaxy.count; c++) {
      if (disks_only && !galaxy_is_disk(&t->galaxy.component[c])) continue;
      mass += t->shells[c]->mass[k];
      density += t->shells[c]->density[k];
    }
    per_step[k] = -GALAXY_GRAVITY * mass * 4.0 * M_PI * gsl_pow_2(t->r[k]) * density;
  }
  double *integral = per_step + GALAXY_RADII;
  galaxy_integrate(t->ln_r, per_step, GALAXY_RADII, 0.0, integral);
  const double energy = integral[GALAXY_RADII - 1];
  free(per_step);
  return energy;
}

double galaxy_potential_energy(const struct galaxy_tables *t) {
  const double spherical = spherical_energy(t, false);
  if (!t->disks) return spherical;
  return spherical - spherical_energy(t, true) + galaxy_disks_energy(t->disks);
}
