/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy equation of the expanding box. With a comoving softening
 *   I = a (T + W) + int T da
 * is constant (Layzer 1963, Irvine 1961; Peebles 1980, section 24, with a for t): T is the peculiar
 * kinetic energy, W the potential energy of the density contrast. What I changes by is the error of
 * the integration. */
#ifndef PHOTONS_STEP_LAYZER_IRVINE_H
#define PHOTONS_STEP_LAYZER_IRVINE_H

/** Where the integral stands. Checkpoints contain it. Energies in any one unit. */
struct layzer_irvine {
  double a, kinetic; /**< at the last call; a = 0: there was none */
  double work;       /**< int T da up to there */
  double first;      /**< I at the first potential that was known; 0: there was none */
};

/** Go on to the next a > l->a: between two calls the kinetic energy is taken to be a power of a. */
void layzer_irvine_advance(struct layzer_irvine *l, double a, double kinetic);
/**
 * I at l->a. The first call sets l->first.
 * @param potential  W
 * @param[out] error  (I - l->first)/|a W|; NAN where W is 0
 */
double layzer_irvine_integral(struct layzer_irvine *l, double potential, double *error);

#endif
