/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the particles of a group of an isolated system. */
#ifndef PHOTONS_STEP_MOMENTS_H
#define PHOTONS_STEP_MOMENTS_H

#include <stdint.h>

/** Sums over the particles of one type in a group: of masses, in units of particles.mass, and of masses
 * times the square of momentum, (km/s)^2, times positions x about the middle of the frame, Mpc, and times
 * x times momentum, Mpc km/s. */
struct moments {
  double mass, square, position[3], angular[3];
};

/** The particles that are summed. Component c of a position stands at x + c * count. */
struct moment_arrays {
  uint32_t count;
  double unit; /**< of length, a position unit */
  const uint32_t *x;
  const float *momentum;
  const float *mass;   /**< NULL: all are 1 */
  const uint8_t *type; /**< NULL: all are PARTICLE_HALO */
};

#endif
