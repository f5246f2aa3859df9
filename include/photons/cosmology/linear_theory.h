/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear theory of the particles' waves at one time, beside which measurements stand. Wave numbers are in h/Mpc. */
#ifndef PHOTONS_LINEAR_THEORY_H
#define PHOTONS_LINEAR_THEORY_H

#include "photons/cosmology/cosmology.h"

struct linear_power;
struct species;

struct linear_theory {
  double a;
  const struct linear_power *power; /**< NULL: unknown, and so is all but growth */
  const struct cosmology *cosmology;
  const struct species *species; /**< NULL: all k grow alike */
  double f_nl;                   /**< local non-Gaussianity, as ic.f_nl */
  struct growth growth;          /**< of all k, without the table of species */
  double potential_unit;         /**< linear_potential_unit(); 0 without f_nl */
};

/** All must outlive the result. */
struct linear_theory linear_theory_at(double a, const struct linear_power *power,
                                      const struct cosmology *c, const struct species *species,
                                      double f_nl);

/** delta_k(a)/delta_k(1). */
double linear_theory_growth(const struct linear_theory *t, double k);
/** dln delta_k/dln a. */
double linear_theory_rate(const struct linear_theory *t, double k);
/** P(k), (Mpc/h)^3; 0 where it is not known. */
double linear_theory_power(const struct linear_theory *t, double k);

/**
 * The correlation function, the integral of P(k) k^2 j_0(k r)/(2 pi^2) dk.
 * @param r       [count] separations, Mpc/h
 * @param smooth  length, Mpc/h: P(k) is multiplied by exp(-(k smooth)^2), without which the integral does not
 *                converge; for r of some such lengths this changes nothing that matters
 * @param[out] xi [count]
 */
void linear_correlation(const struct linear_theory *linear, const double *r, size_t count,
                        double smooth, double *xi);

/** The bispectrum (Mpc/h)^6 of a triangle of waves at lowest order: tree_bispectrum(), and with f_nl that of the
 * potential, 2 f_NL (P1 P2 M3/(M1 M2) + ...) (Komatsu & Spergel 2001, Phys. Rev. D 63, 063002). */
double linear_theory_bispectrum(const struct linear_theory *t, const double k[3]);

/** The bias of halos at k that have the bias @p b of Gaussian waves: b + 2 f_NL (b - 1) 1.686/M(k) (Dalal et al. 2008,
 * Phys. Rev. D 77, 123514; Slosar et al. 2008, JCAP 08, 031). */
double linear_theory_bias(const struct linear_theory *t, double b, double k);

/** u of delta(k, a) = M Phi(k) with M = k^2 T(k) D(a)/u, where D is delta(a)/delta(1) and Phi the potential of matter
 * domination, positive where the density is high: u = 3 Omega_m H0^2/(2 c^2) over D1 of today, D1 = a while matter
 * dominates; (h/Mpc)^2. */
double linear_potential_unit(const struct cosmology *c);

#endif
