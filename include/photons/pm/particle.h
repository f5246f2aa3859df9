/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A particle on the adaptive mesh, as cores and GPUs have it; particles.h. */
#ifndef PHOTONS_PM_PARTICLE_H
#define PHOTONS_PM_PARTICLE_H

#include <stdint.h>

struct gas_particle {
  double position[3]; /**< 0 .. side of the box */
  double velocity[3];
  double mass;
  double owed; /**< time for which the kick that ends its step is still to come */
  uint64_t number;
};

/** Sums over the particles of a group, and the largest of them along an axis. */
struct particle_sums {
  double mass, momentum[3], kinetic_energy;
  double speed, acceleration;
};

#endif
