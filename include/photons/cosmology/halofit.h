/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nonlinear power spectrum by the fit HALOFIT as revised by Takahashi et al. 2012 (ApJ 761,
 * 152). */
#ifndef PHOTONS_HALOFIT_H
#define PHOTONS_HALOFIT_H

#include "photons/cosmology/linear_theory.h"

struct halofit {
  struct linear_theory linear;
  double k_sigma; /**< nonlinear wavenumber, h/Mpc; 0: no scale is nonlinear yet (or there is no
                    spectrum), and the result is the linear spectrum */
  double a, b, c, gamma, alpha, beta, nu, f1, f2, f3;
};

/** Prepare the fit. */
struct halofit halofit_create(const struct linear_theory *linear);
/** P(k) in (Mpc/h)^3; k in h/Mpc. */
double halofit_power(const struct halofit *h, double k);

#endif
