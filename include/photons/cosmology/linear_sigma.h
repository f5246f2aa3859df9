/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rms linear density contrast of the particles' waves in spheres, with the growth of each k where a table of species
 * is given. Particles are cold dark matter and baryons: massive neutrinos are not part of it, as the abundance of halos wants it
 * (Castorina et al. 2014, JCAP 02, 049; Costanzi et al. 2013, JCAP 12, 012). */
#ifndef PHOTONS_LINEAR_SIGMA_H
#define PHOTONS_LINEAR_SIGMA_H

#include "photons/cosmology/linear_theory.h"

struct linear_sigma;

/** The rms contrast in spheres of radius r (Mpc/h) at the time of the theory. The theory has a spectrum. */
double linear_theory_sigma(const struct linear_theory *t, double r);
/** D1 and f1 for all waves together. With a table of species D1 is sigma8 over that of today and f1 is dln(sigma8)/dln a; where
 * the spectrum is not known, both are those of k = 0.2 h/Mpc. Without a table they are t->growth. */
struct growth linear_theory_mean_growth(const struct linear_theory *t);

/** Tabulate sigma for many radii between two, Mpc/h, in the time that linear_theory_sigma() takes for a few, to 1e-5
 * of it. */
struct linear_sigma *linear_sigma_create(const struct linear_theory *t, double low, double high);
/** sigma at the time of the theory. @param r  between the two radii */
double linear_sigma_at(const struct linear_sigma *s, double r);
/** -dln(sigma)/dln(r) */
double linear_sigma_slope(const struct linear_sigma *s, double r);
void linear_sigma_free(struct linear_sigma *s);

#endif
