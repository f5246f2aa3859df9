/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HALOFIT: Takahashi et al. 2012, appendix A; equation numbers are theirs. */
#include "photons/cosmology/halofit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "photons/base/error.h"

/** Moments of Delta^2 under a Gaussian window of radius r: sigma^2 and the terms of its logarithmic
 * derivatives. */
struct moments {
  double sigma2, first, second;
};

static double dimensionless(const struct halofit *h, double k) {
  return k * k * k * linear_theory_power(&h->linear, k) / (2.0 * M_PI * M_PI);
}

/* P(k) is evaluated once for all radii, on a grid in ln k. The integrands fall off faster than exponentially at both ends,
 * so that the trapezoidal rule converges fast wherever the grid begins. */
#define STEP 0.01
#define LOW_PHASE (-16.0) /* ln(kr) between which the integrals are taken */
#define HIGH_PHASE 2.0
#define LOW_WAVE (-6.91) /* ln k that are 1/r: 1 Gpc/h to 10 kpc/h */
#define HIGH_WAVE 4.61
enum { WAVES = 2952 }; /* (HIGH_PHASE - LOW_PHASE + HIGH_WAVE - LOW_WAVE) / STEP */

struct waves {
  double k[WAVES], variance[WAVES]; /* STEP times Delta^2 */
};

static struct waves *waves_create(const struct halofit *h) {
  struct waves *w = allocate(1, sizeof *w, "HALOFIT");
  for (size_t i = 0; i < WAVES; i++) {
    w->k[i] = exp(LOW_WAVE + LOW_PHASE + STEP * (double)i);
    w->variance[i] = STEP * dimensionless(h, w->k[i]);
  }
  return w;
}

static struct moments moments_at(const struct waves *w, double r) {
  const double first = (-log(r) - LOW_WAVE) / STEP;
  const size_t begin = (size_t)fmax(first, 0.0), count = (size_t)((HIGH_PHASE - LOW_PHASE) / STEP),
               left = WAVES - begin;
  struct moments m = {0};
  for (size_t i = begin; i < begin + (count < left ? count : left); i++) {
    const double y = w->k[i] * r, y2 = y * y, weight = w->variance[i] * exp(-y2);
    m.sigma2 += weight;
    m.first += weight * 2.0 * y2;
    m.second += weight * 4.0 * y2 * (1.0 - y2);
  }
  return m;
}

/** The k with sigma(1/k) = 1 (A4), in h/Mpc; 0 if there is no such scale above 10 kpc/h. */
static double find_k_sigma(const struct waves *w) {
  double low = log(1e-3), high = log(100.0);
  if (moments_at(w, exp(-high)).sigma2 < 1.0) return 0.0;
  while (high - low > 1e-8) {
    const double middle = 0.5 * (low + high);
    const bool nonlinear = moments_at(w, exp(-middle)).sigma2 > 1.0;
    *(nonlinear ? &high : &low) = middle;
  }
  return exp(0.5 * (low + high));
}

/** Exponents of Omega_m(z) for a flat and for an open universe, interpolated in the fraction of
 * dark energy (A14; Smith et al. 2003, MNRAS 341, 1311). */
static double omega_power(double omega_m, double omega_lambda, double flat, double open) {
  if (fabs(1.0 - omega_m) < 1e-6) return 1.0;
  const double share = omega_lambda / (1.0 - omega_m);
  return share * pow(omega_m, flat) + (1.0 - share) * pow(omega_m, open);
}

struct halofit halofit_create(const struct linear_theory *linear) {
  const struct cosmology *c = linear->cosmology;
  const double a = linear->a;
  struct halofit h = {.linear = *linear};
  struct waves *waves = waves_create(&h);
  h.k_sigma = find_k_sigma(waves);
  const struct moments m = moments_at(waves, 1.0 / (h.k_sigma > 0.0 ? h.k_sigma : 1.0));
  free(waves);
  if (h.k_sigma == 0.0) return h;
  const double n = m.first / m.sigma2 - 3.0; /* (A5) */
  const double slope = m.first / m.sigma2,
               curvature = m.second / m.sigma2 + slope * slope; /* (A5) */
  const double hubble = cosmology_hubble(c, a) / HUBBLE_0,
               w = dark_energy_w(&c->w, c->w0, c->wa, a);
  const double omega_m = c->omega_m / (a * a * a * hubble * hubble);
  const double omega_w = cosmology_dark_energy(c, a) / (hubble * hubble);
  const double dark = omega_w * (1.0 + w), n2 = n * n, n3 = n2 * n, n4 = n2 * n2;
  h.a = pow(10.0, 1.5222 + 2.8553 * n + 2.3706 * n2 + 0.9903 * n3 + 0.2250 * n4 -
                      0.6038 * curvature + 0.1749 * dark); /* (A6) */
  h.b = pow(10.0,
            -0.5642 + 0.5864 * n + 0.5716 * n2 - 1.5474 * curvature + 0.2279 * dark); /* (A7) */
  h.c = pow(10.0, 0.3698 + 2.0404 * n + 0.8161 * n2 + 0.5869 * curvature);            /* (A8) */
  h.gamma = 0.1971 - 0.0843 * n + 0.8460 * curvature;                                 /* (A9) */
  h.alpha = fabs(6.0835 + 1.3373 * n - 0.1959 * n2 - 5.5274 * curvature);             /* (A10) */
  h.beta = 2.0379 - 0.7354 * n + 0.3157 * n2 + 1.2490 * n3 + 0.3980 * n4 -
           0.1682 * curvature;           /* (A11) */
  h.nu = pow(10.0, 5.2105 + 3.6902 * n); /* (A12) */
  h.f1 = omega_power(omega_m, omega_w, -0.0307, -0.0732);
  h.f2 = omega_power(omega_m, omega_w, -0.0585, -0.1423);
  h.f3 = omega_power(omega_m, omega_w, 0.0743, 0.0725);
  return h;
}

double halofit_power(const struct halofit *h, double k) {
  const double linear = dimensionless(h, k), to_power = 2.0 * M_PI * M_PI / (k * k * k);
  if (h->k_sigma == 0.0) return linear * to_power;
  const double y = k / h->k_sigma;
  const double two_halo = linear * pow(1.0 + linear, h->beta) / (1.0 + h->alpha * linear) *
                          exp(-0.25 * y - 0.125 * y * y); /* (A2) */
  const double one_halo = h->a * pow(y, 3.0 * h->f1) /
                          (1.0 + h->b * pow(y, h->f2) +
                           pow(h->c * h->f3 * y, 3.0 - h->gamma));   /* (A3) */
  return (two_halo + one_halo / (1.0 + h->nu / (y * y))) * to_power; /* mu = 0 */
}
