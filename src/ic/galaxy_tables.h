/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a galaxy: what its parts share. Units as in photons/ic/galaxy.h. */
#ifndef PHOTONS_GALAXY_TABLES_H
#define PHOTONS_GALAXY_TABLES_H

#include "photons/ic/galaxy.h"

struct galaxy_disks;

enum { GALAXY_RADII = 4096 };

/** One component on the spherical radii. */
struct galaxy_shells {
  double amplitude;             /**< of galaxy_profile_at() */
  double density[GALAXY_RADII]; /**< a disk's: averaged over spheres */
  double mass[GALAXY_RADII];    /**< enclosed */
  double f[GALAXY_RADII];       /**< distribution function at the energy of a body at rest here */
  double peak[GALAXY_RADII];    /**< largest q^2 f here; q: speed over the speed to reach the end */
};

struct galaxy_tables {
  struct galaxy galaxy;
  size_t first[GALAXY_COMPONENTS + 1];            /**< particle of each component */
  double particle_mass[GALAXY_COMPONENTS];        /**< 1e10 Msun */
  double r[GALAXY_RADII], ln_r[GALAXY_RADII];     /**< equal steps of ln r */
  double mass[GALAXY_RADII], slope[GALAXY_RADII]; /**< enclosed mass M, dlnM/dln r */
  double depth[GALAXY_RADII];                     /**< potential above that at r[0] */
  struct galaxy_shells *shells[GALAXY_COMPONENTS];
  struct galaxy_disks *disks; /**< NULL: none */
};

/** Number the particles of the components. Returns false, with the reason, if the numbers do not go
 * together. */
bool galaxy_deal(struct galaxy_tables *t, size_t particles, char *reason, size_t size);
/** Masses of particles, once the masses of components are in the tables. */
void galaxy_weigh(struct galaxy_tables *t);

/** integral[k] = start + the integral of @p y over @p x from x[0] to x[k], by cubic splines. */
void galaxy_integrate(const double *x, const double *y, size_t n, double start, double *integral);

/** Between nodes i and i + 1 of an increasing table: node i, and the fraction of the way. Values
 * outside the table give its ends. */
struct galaxy_place {
  size_t i;
  double fraction;
};
struct galaxy_place galaxy_find(const double *table, size_t n, double value);

/** Linear interpolation in a table of the same nodes. */
double galaxy_between(const double *table, struct galaxy_place place);

/** A value that grows as a power of r between nodes, and below the first. */
double galaxy_power_between(const double *r, const double *value, size_t n, double radius);

/** The radius within which `mass` of a cumulative mass lies; both grow as powers between nodes, and
 * below the first. */
double galaxy_radius_of_mass(const double *r, const double *cumulative, size_t n, double mass);

/** Density of a component, a disk's averaged over spheres, in units of galaxy_shells.amplitude. */
double galaxy_shape(const struct galaxy_component *c, double r);

/** Mass of the spheres, without disks, within r. */
double galaxy_spheres_mass(const struct galaxy_tables *t, double r);

/** Distribution functions of all spheres. Returns false, with the reason, if one is below 0. */
bool galaxy_invert(struct galaxy_tables *t, char *reason, size_t size);

/** f of a component where the potential is @p depth above that at r[0]; 0 beyond the end. */
double galaxy_f(const struct galaxy_tables *t, size_t c, double depth);

#endif
