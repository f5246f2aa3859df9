/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rms linear density contrast in spheres of many radii, in the time that linear_power_sigma() takes for a few. */
#ifndef PHOTONS_LINEAR_SIGMA_H
#define PHOTONS_LINEAR_SIGMA_H

struct linear_power;
struct linear_sigma;

/** Tabulate sigma for radii between two, Mpc/h, to 1e-5 of linear_power_sigma(). */
struct linear_sigma *linear_sigma_create(const struct linear_power *power, double low, double high);
/** sigma at z = 0. @param r  between the two radii */
double linear_sigma_at(const struct linear_sigma *s, double r);
/** -dln(sigma)/dln(r) */
double linear_sigma_slope(const struct linear_sigma *s, double r);
void linear_sigma_free(struct linear_sigma *s);

#endif
