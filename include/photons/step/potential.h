/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short-range part of the potential energy. */
#ifndef PHOTONS_STEP_POTENTIAL_H
#define PHOTONS_STEP_POTENTIAL_H

#include "photons/step/nbody.h"

/**
 * Sum over all ordered pairs of particles of the short-range potential psi (split.h), softened, in
 * units of 1/r_cut. It is the same for any number of workers and ranks. All particles must have
 * drifted to the same time; trees are refitted. Collective.
 */
double step_pair_potential(struct nbody *n);

#endif
