/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential energy of a periodic box or of an isolated system. */
#ifndef PHOTONS_ANALYSIS_ENERGY_H
#define PHOTONS_ANALYSIS_ENERGY_H

#include "photons/step/nbody.h"
#include "photons/step/statistics.h"

/**
 * Potential energy of the density contrast, W = 1/2 sum_i m phi(x_i)/a, by the same split as
 * forces: its short-range part from all pairs in reach, its long-range part from the modes of
 * the mesh at the last forces, which must have been those at the present positions. A particle does not attract itself; all its periodic images do.
 * The mean density has no potential, and a cubic lattice of particles, which stands for a smooth
 * universe, has none either: its energy, a constant over a, is subtracted; where masses differ, each particle is in a lattice of its own mass. Of an isolated system it
 * is that of all pairs, 1/2 sum_i m phi(x_i), by the same lists and expansions as forces. All
 * particles must have drifted to the same time. Trees are refitted. Collective.
 * @param a  scale factor; 1 in isolated systems
 * @return 1e10 Msun/h (km/s)^2; the same for any number of workers and ranks
 */
double potential_energy(struct nbody *n, double a);

/**
 * The same of an isolated system, by the type of the particles i. Collective.
 * @param[out] of_types  1/2 sum m phi over the particles of each type, 1e10 Msun (km/s)^2
 * @return their sum
 */
double potential_energy_of_types(struct nbody *n, double of_types[PARTICLE_TYPES]);

/**
 * The potential phi of all other particles at each particle of an isolated system, softened, under
 * the same conditions. Collective.
 * @param[out] potential  [particles of this rank] (km/s)^2, in their order
 */
void potential_of_particles(struct nbody *n, float *potential);

/** Fill the potential energy, angular momenta, centres of mass and components of the statistics of an
 * isolated system, under the same conditions. Collective. */
void statistics_measure_energy(struct nbody *n, struct statistics *s);

#endif
