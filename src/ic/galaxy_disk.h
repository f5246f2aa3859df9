/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential disks: their force in the plane, their energy, and the moments of their velocities.
 * Units as in photons/ic/galaxy.h. */
#ifndef PHOTONS_GALAXY_DISK_H
#define PHOTONS_GALAXY_DISK_H

#include "galaxy_tables.h"

/** The disks of a galaxy, together. */
struct galaxy_disks;

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
