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

void galaxy_integrate(const double *x, const double *y, size_t n, double start, double *integral) {
  gsl_spline *spline = gsl_spline_alloc(gsl_interp_cspline, n);
  if (!spline || gsl_spline_init(spline, x, y, n))
    fail(EXIT_RUN_FAILED, "galaxy: no spline through %zu points", n);
  integral[0] = start;
  for (size_t k = 0; k + 1 < n; k++)
    integral[k + 1] = integral[k] + gsl_spline_eval_integ(spline, x[k], x[k + 1], NULL);
  gsl_spline_free(spline);
}

struct galaxy_place galaxy_find(const double *table, size_t n, double value) {
  const size_t i = gsl_interp_bsearch(table, value, 0, n - 1);
  const double step = table[i + 1] - table[i];
  const double fraction = step > 0.0 ? (value - table[i]) / step : 0.0;
  return (struct galaxy_place){i, fmin(fmax(fraction, 0.0), 1.0)};
}

double galaxy_between(const double *table, struct galaxy_place place) {
  return table[place.i] + place.fraction * (table[place.i + 1] - table[place.i]);
}

double galaxy_radius_of_mass(const double *r, const double *cumulative, size_t n, double mass) {
  const size_t i = gsl_interp_bsearch(cumulative, mass, 0, n - 1);
  const double growth = log(cumulative[i + 1] / cumulative[i]);
  if (!(growth > 0.0)) return r[i];
  return fmin(r[i + 1], r[i] * pow(r[i + 1] / r[i], log(mass / cumulative[i]) / growth));
}

static double power_between(const double *r, const double *value, size_t n, double radius) {
  if (radius >= r[n - 1]) return value[n - 1];
  const size_t i = gsl_interp_bsearch(r, radius, 0, n - 1);
  if (!(value[i] > 0.0)) return 0.0;
  const double slope = log(value[i + 1] / value[i]) / log(r[i + 1] / r[i]);
  return value[i] * pow(radius / r[i], slope);
}

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

static double density_without_amplitude(const struct galaxy_component *c, double r) {
  if (r > galaxy_profile_end(c) * (1.0 + 1e-12)) return 0.0;
  return galaxy_is_disk(c) ? galaxy_disk_average(c, r) : galaxy_profile_at(c, r).density;
}

/* Within the first radius the density is a power of r. */
static void make_shells(const struct galaxy_tables *t, size_t c, struct galaxy_shells *s) {
  const struct galaxy_component *one = &t->galaxy.component[c];
  double *per_step = allocate(GALAXY_RADII, sizeof *per_step, "masses of a galaxy");
  for (size_t k = 0; k < GALAXY_RADII; k++) {
    s->density[k] = density_without_amplitude(one, t->r[k]);
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

/* Numbers in proportion to the masses; particles that are left over go to the largest
 * remainders. */
static void deal_particles(struct galaxy_tables *t, size_t particles) {
  const size_t components = t->galaxy.count;
  double mass = 0.0, remainder[GALAXY_COMPONENTS] = {0.0};
  size_t count[GALAXY_COMPONENTS], left = particles;
  for (size_t c = 0; c < components; c++) mass += t->galaxy.component[c].mass;
  for (size_t c = 0; c < components; c++) {
    const double share = (double)particles * (t->galaxy.component[c].mass / mass);
    count[c] = (size_t)share < left ? (size_t)share : left;
    remainder[c] = share - floor(share);
    left -= count[c];
  }
  for (; left > 0; left--) {
    size_t largest = 0;
    for (size_t c = 1; c < components; c++)
      if (remainder[c] > remainder[largest]) largest = c;
    count[largest]++;
    remainder[largest] -= 1.0;
  }
  for (size_t c = 0; c < components; c++) t->first[c + 1] = t->first[c] + count[c];
}

static bool check(const struct galaxy *galaxy, size_t particles, char *reason, size_t size) {
  if (galaxy->count == 0 || galaxy->count > GALAXY_COMPONENTS) {
    snprintf(reason, size, "galaxy: %zu components; 1 to %d are possible", galaxy->count,
             GALAXY_COMPONENTS);
    return false;
  }
  if (particles == 0) {
    snprintf(reason, size, "galaxy: no particles");
    return false;
  }
  for (size_t c = 0; c < galaxy->count; c++)
    if (!galaxy_component_check(&galaxy->component[c], reason, size)) return false;
  return true;
}

struct galaxy_tables *galaxy_tables_create(const struct galaxy *galaxy, size_t particles,
                                           char *reason, size_t size) {
  if (!check(galaxy, particles, reason, size)) return NULL;
  struct galaxy_tables *t = allocate(1, sizeof *t, "tables of a galaxy");
  t->galaxy = *galaxy;
  deal_particles(t, particles);
  make_radii(t);
  for (size_t c = 0; c < galaxy->count; c++) {
    t->shells[c] = allocate(1, sizeof *t->shells[c], "tables of a galaxy");
    make_shells(t, c, t->shells[c]);
  }
  make_potential(t);
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

size_t galaxy_first(const struct galaxy_tables *t, size_t c) { return t->first[c]; }

double galaxy_mass(const struct galaxy_tables *t) { return t->mass[GALAXY_RADII - 1]; }

double galaxy_enclosed_mass(const struct galaxy_tables *t, size_t c, double r) {
  return power_between(t->r, t->shells[c]->mass, GALAXY_RADII, r);
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

double galaxy_density(const struct galaxy_tables *t, size_t c, double r) {
  return t->shells[c]->amplitude * density_without_amplitude(&t->galaxy.component[c], r);
}

double galaxy_potential(const struct galaxy_tables *t, double r) {
  const double end = t->r[GALAXY_RADII - 1], depth = t->depth[GALAXY_RADII - 1];
  if (r >= end) return -GALAXY_GRAVITY * galaxy_mass(t) / r;
  const double ln_r = log(fmax(r, t->r[0]));
  return galaxy_between(t->depth, galaxy_find(t->ln_r, GALAXY_RADII, ln_r)) - depth -
         GALAXY_GRAVITY * galaxy_mass(t) / end;
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
