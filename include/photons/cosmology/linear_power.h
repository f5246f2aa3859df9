/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear matter power spectrum at z = 0: a table, Eisenstein & Hu (1998) or a power law,
 * normalised to sigma8. */
#ifndef PHOTONS_LINEAR_POWER_H
#define PHOTONS_LINEAR_POWER_H

#include <stdbool.h>

struct parameters;
struct linear_power;

/**
 * Make the spectrum that the parameters ask for. A bad table ends the program with EXIT_BAD_INPUT,
 * and so does one that is to be taken as it is and whose sigma8 differs from that of the parameters
 * by more than a factor of 2. Warns of a table that may be in other units or of another redshift.
 */
struct linear_power *linear_power_create(const struct parameters *p);
/** sigma8 of the table as it stands in its file; 0 for the fit, and for a table of a narrow range of
 * k. */
double linear_power_table_sigma8(const struct linear_power *power);
/** P(k) at z = 0 in (Mpc/h)^3; k in h/Mpc; 0 outside the range of a table. */
double linear_power_at(const struct linear_power *power, double k);
/** Where P(k) is known. */
struct linear_range {
  double low, high; /**< k, h/Mpc; 0 and infinity but of a table */
  bool law;         /**< a power law */
};
struct linear_range linear_power_range(const struct linear_power *power);
/** The transfer function T(k), P(k) = A k^n_s T^2 with T = 1 at k = 0; 0 outside the range of a table. At the first
 * row of a table it is that of Eisenstein & Hu. */
double linear_power_transfer(const struct linear_power *power, double k);
/** rms linear density contrast in spheres of radius r (Mpc/h) at z = 0. */
double linear_power_sigma(const struct linear_power *power, double r);
void linear_power_free(struct linear_power *power);

#endif
