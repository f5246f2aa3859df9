/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures of each galaxy of an isolated system, over the particles with which it began: its centre, radii,
 * dispersion and angular momentum; and its disk's bar, size and heat. tools/photons/galaxy_disk.py measures
 * disks of snapshots by the same definitions. */
#ifndef PHOTONS_ANALYSIS_GALAXIES_H
#define PHOTONS_ANALYSIS_GALAXIES_H

#include "photons/domain/galaxy_ids.h"
#include "photons/domain/particles.h"

enum { GALAXY_RADII_MEASURED = 3 };
/** Shares of the mass within Lagrangian radii, in percent. */
extern const int galaxy_percent[GALAXY_RADII_MEASURED];

/** The particles of type PARTICLE_DISK, in the plane across the angular momentum of their inner half. The
 * x axis of the plane is as near as can be to that of the system. */
struct disk_measures {
  double bar_strength; /**< |sum m exp(2 i phi)|/sum m within two scale lengths, and */
  double
      bar_angle; /**< the angle where it is largest, -pi/2 .. pi/2 from the x axis of the plane, rad */
  double
      scale_length; /**< of an exponential disk with the same half-mass radius, 1.67835 of them, kpc */
  double height;    /**< root mean square of z about its mean, kpc */
  double sigma[3]; /**< dispersions along R, phi and z at 1.5 to 2.5 scale lengths, km/s */
  double spin[3];  /**< angular momentum by mass about the centre and the mean velocity, kpc km/s */
};

/** What is not known is NAN, such as a disk without particles. */
struct galaxy_measures {
  uint64_t particles;
  double mass;                          /**< 1e10 Msun */
  double centre[3];                     /**< the densest point, kpc */
  double velocity[3];                   /**< mean of the innermost tenth of the mass, km/s */
  double radius[GALAXY_RADII_MEASURED]; /**< Lagrangian radii about the centre, kpc */
  double type_radius[PARTICLE_TYPES][GALAXY_RADII_MEASURED]; /**< the same of each type */
  double dispersion; /**< in one dimension, about the mean, within the half-mass radius, km/s */
  double angular[3]; /**< about the centre and its velocity, 1e10 Msun kpc km/s */
  struct disk_measures disk;
};

/**
 * Measure galaxies, of which the host has the particles (domain_acquire()). The bits depend neither on
 * workers nor on ranks. Collective.
 * @param[out] measures  [ids->count]
 */
void galaxies_measure(const struct particles *s, const struct galaxy_ids *ids,
                      struct galaxy_measures *measures);

#endif
