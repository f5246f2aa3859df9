/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an isolated system consists of: its components, their masses and momenta, and the radii about
 * the densest point that hold parts of their masses. */
#ifndef PHOTONS_ANALYSIS_SYSTEM_H
#define PHOTONS_ANALYSIS_SYSTEM_H

#include "photons/domain/particles.h"

enum { SYSTEM_SHARES = 5 };
/** Shares of the mass, in percent. */
extern const int system_percent[SYSTEM_SHARES];

/** The particles of one type, or all. */
struct system_part {
  uint64_t count;
  double mass;                  /**< 1e10 Msun */
  double momentum[3];           /**< sum of m v, 1e10 Msun km/s */
  double radius[SYSTEM_SHARES]; /**< the least that holds the share of the mass, kpc */
};

struct system {
  double densest[3]; /**< about the origin of snapshots, kpc */
  struct system_part type[PARTICLE_TYPES], all;
};

/**
 * Measure the particles of an isolated system, which are in a frame. The densest point is found by
 * shrinking spheres (densest_point()). Sums of momenta depend in their last bits on the number of
 * ranks. Collective.
 */
struct system system_measure(const struct particles *s);

#endif
