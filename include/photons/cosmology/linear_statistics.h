/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What perturbation theory makes of the linear power spectrum. */
#ifndef PHOTONS_LINEAR_STATISTICS_H
#define PHOTONS_LINEAR_STATISTICS_H

struct linear_power;

/** The rms length of the linear displacement at z = 0 by the waves from @p low to @p high h/Mpc, Mpc/h: the root of
 * the integral of P(k)/(2 pi^2) dk. */
double linear_displacement(const struct linear_power *linear, double low, double high);

/** The rms density contrast of the same waves at z = 0: the root of the integral of P(k) k^2/(2 pi^2) dk. */
double linear_contrast(const struct linear_power *linear, double low, double high);

/** The bispectrum of matter at second order of perturbation theory, (Mpc/h)^6 (Bernardeau et al. 2002, Phys.
 * Rep. 367, 1, equations 45 and 155), whose kernel is that of an Einstein-de Sitter universe.
 * @param k      sides of the triangle
 * @param power  linear power of each side, (Mpc/h)^3 */
double tree_bispectrum(const double k[3], const double power[3]);
/** P1 P2 + P2 P3 + P3 P1. */
double cyclic_products(const double power[3]);

#endif
