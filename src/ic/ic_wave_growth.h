/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear growth of the waves of initial conditions. */
#ifndef PHOTONS_IC_WAVE_GROWTH_H
#define PHOTONS_IC_WAVE_GROWTH_H

#include <stdbool.h>

#include "photons/cosmology/fluids.h"

struct species;

/** How much of the waves of z = 0 there is, and how fast they grow, by k. Without tables all k grow alike. */
struct wave_growth {
  double a, d1, f1;              /**< scale factor, growth factor, dln D1/dln a */
  const struct species *species; /**< or NULL: the growth of each k */
  const struct fluids *fluids;   /**< or NULL: what a fluid has of the waves of all matter */
  enum fluid fluid;
};

/** Density contrast over that of all matter at z = 0; k in h/Mpc. */
double wave_growth(const struct wave_growth *w, double k);
/** dln delta/dln a. */
double wave_rate(const struct wave_growth *w, double k);
bool wave_rate_depends_on_k(const struct wave_growth *w);

#endif
