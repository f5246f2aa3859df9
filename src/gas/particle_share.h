/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particles of a cubic box of gas as those that the room analysis measures. */
#ifndef PHOTONS_GAS_PARTICLE_SHARE_H
#define PHOTONS_GAS_PARTICLE_SHARE_H

#include "photons/domain/particles.h"
#include "photons/pm/particles.h"

/**
 * A copy of the positions and numbers of all particles, of which each rank gets an equal part, in any order. The
 * ids are one more than the numbers. Masses that differ are a column. Collective.
 * @param box  the side of the box
 */
struct particles gas_particles_share(const struct gas *g, double box);
/** Bytes that this takes up on all ranks together, at most, with what is done with the copy.
 * @param use  bytes of all ranks that what is done with the copy takes up */
double gas_particles_share_memory(size_t particles, double use);

#endif
