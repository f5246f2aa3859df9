/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of an isolated system that are so far away that they are taken out. */
#ifndef PHOTONS_STEP_ESCAPERS_H
#define PHOTONS_STEP_ESCAPERS_H

#include <stddef.h>
#include <stdint.h>

#include "photons/step/nbody.h"

struct escaper {
  uint64_t id;
  double position[3]; /**< from the middle of the frame, Mpc */
  double velocity[3]; /**< km/s */
};

struct escapers {
  double a; /**< the time when they were taken out */
  size_t count;
  struct escaper *escaper; /**< by id */
  double energy; /**< what they take with them: their kinetic energy, and the potential energy of all
                  *   pairs with one of them, 1e10 Msun (km/s)^2 */
};

/**
 * Take particles out of an isolated system, between two steps: then positions and velocities belong
 * to the same time. The others keep their accelerations, so that their next kick is the last one
 * with the escapers' pull. The result is the same on all ranks, whatever their number. Collective.
 * @param n       is replaced by a new system if there are escapers
 * @param radius  Mpc; particles at this distance from the middle of the frame, or farther, escape
 */
struct escapers escapers_take(struct nbody **n, double radius);
void escapers_free(struct escapers *e);

#endif
