/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short-range part of the potential energy. */
#ifndef PHOTONS_STEP_POTENTIAL_H
#define PHOTONS_STEP_POTENTIAL_H

#include <stdbool.h>

#include "photons/step/nbody.h"

/**
 * Sum over all ordered pairs of particles of the short-range potential psi (split.h), softened, in
 * units of 1/r_cut. It is the same for any number of workers and ranks. All particles must have
 * drifted to the same time; trees are refitted. Collective.
 * @param expansions  use expansions where the acceptance criterion of forces allows it; only with
 *                    Newton's gravity (isolated systems). Their order is the highest one: errors of
 *                    the potential have one sign and do not cancel in the sum. Otherwise all pairs
 *                    are summed directly
 * @param[out] of_particles  [particles of this rank] the part of each, in their order; NULL: not
 *         wanted
 * @param[out] of_types      the part of the particles of each type; NULL: not wanted
 */
double step_pair_potential(struct nbody *n, bool expansions, float *of_particles,
                           double of_types[PARTICLE_TYPES]);

#endif
