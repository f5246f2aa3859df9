/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/comoving.h"

#include <math.h>

#include "photons/config/parameters.h"
#include "photons/pm/particles.h"

#define BOLTZMANN 0.00824999 /* over the mass of a hydrogen atom, (km/s)^2/K */
#define BACKGROUND 2.7255    /* temperature today, K: Fixsen 2009, ApJ 707, 916 */
/* Redshift until which free electrons heat the gas (Peebles 1993, chapter 6). */
#define PARTING 137.0

double comoving_mean_density(const struct cosmology *c) { return c->omega_m * RHO_CRITICAL; }

double comoving_gas_share(const struct parameters *p) {
  if (p->gas.solver == GAS_NONE) return 0.0;
  return gas_particles_wanted(p) ? p->cosmology.omega_b / p->cosmology.omega_m : 1.0;
}

double primordial_temperature(double a) {
  const double z = 1.0 / a - 1.0;
  return BACKGROUND / a * (z < PARTING ? (1.0 + z) / (1.0 + PARTING) : 1.0);
}

double comoving_heat(double a, double kelvin, double weight) {
  return a * a * BOLTZMANN * kelvin / weight;
}

double comoving_initial_heat(const struct parameters *p) {
  const double a = 1.0 / (1.0 + p->ic.z_init);
  const double kelvin = p->ic.temperature > 0.0 ? p->ic.temperature : primordial_temperature(a);
  return comoving_heat(a, fmax(kelvin, p->gas.temperature_floor), p->gas.molecular_weight);
}
