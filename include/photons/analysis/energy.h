/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential energy of a periodic box, and the energy equation of the expanding box. */
#ifndef PHOTONS_ANALYSIS_ENERGY_H
#define PHOTONS_ANALYSIS_ENERGY_H

#include "photons/step/nbody.h"

/**
 * Potential energy of the density contrast, W = 1/2 sum_i m phi(x_i)/a, by the same split as forces:
 * its short-range part from all pairs in reach, its long-range part from the modes of a mesh of
 * the size of the force's. A particle does not attract itself; all its periodic images do. The mean
 * density has no potential.
 * All particles must have drifted to the same time. Trees are refitted. Collective.
 * @param a  scale factor
 * @return 1e10 Msun/h (km/s)^2
 */
double potential_energy(struct nbody *n, double a);

/** Where the Layzer-Irvine integral stands. With comoving softening
 * I = a (T + W) + int T da is constant (Peebles 1980, eq. 24.7 in terms of a). */
struct layzer_irvine {
  double a, kinetic; /**< at the last call; a = 0: there was none */
  double work;       /**< int T da up to there */
};
/**
 * Go on to the next a > l->a: between two calls the kinetic energy is taken to be a power of a.
 * @param kinetic  peculiar kinetic energy T at a, any unit
 */
void layzer_irvine_advance(struct layzer_irvine *l, double a, double kinetic);
/** I for the potential energy W at l->a. */
double layzer_irvine_integral(const struct layzer_irvine *l, double potential);

#endif
