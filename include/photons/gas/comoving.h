/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas in a box that expands, in the variables of Schive, Tsai & Chiueh (2010), ApJS 186, 457,
 * equations 15 and 16: x~ = x/a, dt~ = dt/a^2, density~ = a^3 density, v~ = a (v - H x), pressure~ =
 * a^5 pressure, potential~ = a^2 (potential - that of the mean density). With gamma = 5/3 Euler's
 * equations keep their form, and Poisson's is Laplace potential~ = 4 pi G a (density~ - mean).
 *
 * Units: Mpc/h, km/s, 1e10 Msun/h (cosmology.h). The time t~ is what cosmology_drift() gives. */
#ifndef PHOTONS_GAS_COMOVING_H
#define PHOTONS_GAS_COMOVING_H

#include "photons/cosmology/cosmology.h"

struct parameters;

/** The comoving mean density of all matter, 1e10 Msun/h/(Mpc/h)^3. */
double comoving_mean_density(const struct cosmology *c);
/** The part of all matter that is gas: all of it, or that of baryons where there are particles, or
 * none with gas.solver = none. */
double comoving_gas_share(const struct parameters *p);

/** Temperature, K, of gas that was heated by the microwave background until they parted, and cooled
 * by expansion since then. */
double primordial_temperature(double a);

/** pressure~/density~ of gas with a temperature in K, (km/s)^2.
 * @param weight  mean molecular weight, in masses of a hydrogen atom */
double comoving_heat(double a, double kelvin, double weight);
/** The same at ic.z_init, of ic.temperature or else the primordial one, or of gas.temperature_floor
 * if this is higher. */
double comoving_initial_heat(const struct parameters *p);

#endif
