/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential disks: their force in the plane, their energy, and the moments of their velocities.
 * Units as in photons/ic/galaxy.h. */
#ifndef PHOTONS_GALAXY_DISK_H
#define PHOTONS_GALAXY_DISK_H

#include <gsl/gsl_integration.h>
#include <gsl/gsl_interp2d.h>
#include <gsl/gsl_spline.h>

#include "galaxy_tables.h"

enum { DISK_RADII = 512, DISK_HEIGHTS = 193 };
#define DISK_TOP 12.0 /**< of the heights, in scale heights */

/** One disk. */
struct galaxy_disk {
  double amplitude;        /**< of the surface density */
  double mass[DISK_RADII]; /**< within a cylinder */
  double *transform;       /**< S(k) */
  double *force_z;  /**< dPhi/dz of all disks, [DISK_HEIGHTS][DISK_RADII], heights of this disk */
  double *speed2;   /**< R dPhi/dR of all disks, likewise */
  double *sigma_z2; /**< likewise */
  double sigma_r;   /**< at R = 0 */
  double q, least_q_radius; /**< the least Q, and where */
};

/** The disks of a galaxy, together. */
struct galaxy_disks {
  struct galaxy galaxy;
  double r[DISK_RADII], ln_r[DISK_RADII], height[DISK_HEIGHTS];
  struct galaxy_disk disk[GALAXY_COMPONENTS]; /**< by component */
  gsl_integration_glfixed_table *waves;       /**< wavenumbers, from 0 to `longest` */
  double longest;
  gsl_spline *speed2;     /**< R dPhi/dR of all disks in the plane, over ln R */
  gsl_interp2d *bilinear; /**< over ln R and height */
};

/** sech^2 x */
double galaxy_sech2(double x);

/** Surface density of disk c; 0 beyond its end. */
double galaxy_disk_surface_density(const struct galaxy_disks *d, size_t c, double radius);

/** Density of a disk averaged over the sphere of radius r, for an amplitude of 1. */
double galaxy_disk_average(const struct galaxy_component *c, double r);

/** Surface densities and the disks' own force. NULL if there is no disk. */
struct galaxy_disks *galaxy_disks_create(const struct galaxy *galaxy);
/** Moments of the velocities, once the masses of all components are in the tables. Returns false,
 * with the reason, if a disk is hotter than its rotation. */
bool galaxy_disks_heat(struct galaxy_tables *t, char *reason, size_t size);
void galaxy_disks_free(struct galaxy_disks *disks);

/** Energy of all disks in the potential of all disks. */
double galaxy_disks_energy(const struct galaxy_disks *disks);

/** R dPhi/dR of the disks in the plane, (km/s)^2. */
double galaxy_disks_speed2(const struct galaxy_disks *disks, double radius);

/** The radius within which a fraction of a disk's mass lies. */
double galaxy_disk_radius(const struct galaxy_tables *t, size_t c, double fraction);

#endif
