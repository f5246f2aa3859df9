/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Density profiles of spheres and surface densities of disks, not normalised. */
#ifndef PHOTONS_GALAXY_PROFILE_H
#define PHOTONS_GALAXY_PROFILE_H

#include "photons/ic/galaxy.h"

/** A density, its logarithmic slope s = dln(density)/dln(r), and ds/dln(r). */
struct galaxy_slopes {
  double density, slope, curvature;
};

bool galaxy_is_disk(const struct galaxy_component *c);

/** Check the numbers of a component.
 * @return whether they are in range; else @p reason receives one line */
bool galaxy_component_check(const struct galaxy_component *c, char *reason, size_t size);

/** Read the words KEY=VALUE that may follow the numbers of a component: particles, particle_mass,
 * type and softening. */
bool galaxy_options_parse(const char *text, struct galaxy_component *component, char *reason,
                          size_t size);

/** Density of a sphere, or surface density of a disk. */
struct galaxy_slopes galaxy_profile_at(const struct galaxy_component *c, double r);

/** The radius beyond which there is nothing, kpc. */
double galaxy_profile_end(const struct galaxy_component *c);

#endif
