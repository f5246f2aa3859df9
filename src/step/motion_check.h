/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that end a run: what is not finite, faster than light, or moved by half the box. */
#ifndef PHOTONS_STEP_MOTION_CHECK_H
#define PHOTONS_STEP_MOTION_CHECK_H

#include "photons/step/nbody.h"

/**
 * End the run, with a message about one particle, if the last kick of a group saw
 * - an acceleration that is not finite, or
 * - a momentum p = a^2 dx/dt = a v with |p| >= a c, v being the peculiar velocity, or
 * - a momentum that the drift turns into a displacement of half the box or more. Kicks take these
 * maxima anyway, so that the check costs nothing. All tasks are done. Local: each rank looks at its
 * own groups, and the failure of one rank ends all.
 * @param drift  of the drift that followed the kick, int dt/a^2; 0: none did
 */
void motion_check(struct nbody *n, double drift);

#endif
