/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of an expanding universe, from the same waves as the gas. */
#ifndef PHOTONS_GAS_PARTICLE_WAVES_H
#define PHOTONS_GAS_PARTICLE_WAVES_H

#include "photons/pm/particles.h"

/** The number of particles that box.npart_side asks for. */
size_t waves_particle_count(const struct parameters *p);
/** Most bytes that all ranks need for waves_make_particles() of ic.source = generate. */
double waves_particle_memory(const struct parameters *p);
/** The particles of ic.source = generate or pancake at ic.z_init: displaced, in first order, from a
 * grid whose points are corners of the root level's cells where both are equally many. They have
 * the mass of all matter that is not gas.
 * @return [count] this rank's part, numbered from 0 in the order of the grid, z fastest */
struct gas_particle *waves_make_particles(const struct parameters *p, size_t *count);

#endif
