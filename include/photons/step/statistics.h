/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over all particles of a run at the end of a step, where positions and momenta belong to the
 * same scale factor: step_forces() and block_close() close all kicks there. */
#ifndef PHOTONS_STEP_STATISTICS_H
#define PHOTONS_STEP_STATISTICS_H

#include "photons/step/nbody.h"

/** The particles of one type in an isolated system. */
struct component {
  double mass;                                      /**< 1e10 Msun; 0: there are none */
  double kinetic, potential, angular[3], centre[3]; /**< as in struct statistics; the centre of no
                                                     *   particles is NAN */
};

/** Velocities are peculiar, v = a dx/dt. m is the mass of a particle. */
struct statistics {
  double kinetic;      /**< T = sum m v^2 / 2, 1e10 Msun/h (km/s)^2 */
  double momentum[3];  /**< sum m v, 1e10 Msun/h km/s */
  double momentum_sum; /**< sum m |v|, 1e10 Msun/h km/s */
  double acc_max;      /**< largest |acceleration|, comoving, (km/s)^2/(Mpc/h) */
  /** NAN at steps where the potential energy is not computed. */
  double potential;     /**< W, 1e10 Msun/h (km/s)^2 */
  double layzer_irvine; /**< I of layzer_irvine.h, 1e10 Msun/h (km/s)^2 */
  double external;      /**< energy in potentials of section [external]; NAN: there are none */
  double clausius;      /**< sum of m x times acceleration in them */
  double jacobi;        /**< Jacobi's integral, where a bar turns; else NAN */
  struct net_force net_force; /**< what the last forces on all particles had of it */
  double escaped;             /**< energy that escapers took with them (escapers.h) */
  double layzer_irvine_error; /**< its change since the first, over |a W| */
  /** Of isolated systems at these steps, about the origin of snapshots: */
  double angular[3]; /**< angular momentum sum m x times v, 1e10 Msun Mpc km/s */
  double centre[3];  /**< centre of mass, Mpc */
  struct component types[PARTICLE_TYPES];
};

/** The statistics at the scale factor a, without the potential energy. Their bits depend neither on
 * workers nor on ranks. No task runs, and a kick has seen all particles. Collective. */
struct statistics statistics_measure(struct nbody *n, double a);
/** Angular momentum and centre of mass of an isolated system, and its components without their
 * potential energies, under the same conditions. Collective. */
void statistics_measure_moments(struct nbody *n, struct statistics *s);

#endif
