/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact accelerations of few particles in a periodic box, by Ewald summation in double precision.
 * Independent of the solver's code. */
#ifndef PHOTONS_TESTS_EWALD_H
#define PHOTONS_TESTS_EWALD_H

#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* With the splitting alpha = 3.5/L the truncation errors are below erfc(3.5 * 1.5) = 1e-13 in real
 * space and e^-40 in k space. */
#define EWALD_ALPHA 3.5
enum {
  EWALD_IMAGES = 1,
  EWALD_WAVES = 6,
  EWALD_SIDE = 2 * EWALD_WAVES + 1,
  EWALD_MODES = EWALD_SIDE * EWALD_SIDE * EWALD_SIDE
};

/** e^(2 pi i n x) of the three components, n = -EWALD_WAVES .. EWALD_WAVES. */
static inline void ewald_phases(const double *x, double complex phase[3][EWALD_SIDE]) {
  for (int c = 0; c < 3; c++) {
    double complex one = cexp(2.0 * M_PI * I * x[c]), power = 1.0;
    for (int n = 0; n <= EWALD_WAVES; n++, power *= one) {
      phase[c][EWALD_WAVES + n] = power;
      phase[c][EWALD_WAVES - n] = conj(power);
    }
  }
}

/** Softened attraction over distance, F/d: Gadget's spline of support h = 2.8 epsilon (Springel,
 * Yoshida & White 2001), integrated from its density, or Plummer's law. */
static inline double softened_attraction(double r, double epsilon, int plummer) {
  if (plummer) return pow(r * r + epsilon * epsilon, -1.5);
  double q = r / (2.8 * epsilon);
  if (epsilon <= 0.0 || q >= 1.0) return 1.0 / (r * r * r);
  /* mass inside q of the density 8/pi (1 - 6 q^2 + 6 q^3) to q = 1/2, 16/pi (1 - q)^3 beyond */
  double mass = q < 0.5 ? 32.0 * (q * q * q / 3.0 - 1.2 * pow(q, 5) + pow(q, 6))
                        : 64.0 * (q * q * q / 3.0 - 0.75 * pow(q, 4) + 0.6 * pow(q, 5) - pow(q, 6) / 6.0) - 1.0 / 15.0;
  return r > 0.0 ? mass / (r * r * r) : 32.0 / 3.0 / pow(2.8 * epsilon, 3);
}

/** The k-space part of Newton's attraction over distance: (1 - T(alpha r))/r^3. */
static inline double ewald_smooth(double r) {
  const double x = EWALD_ALPHA * r, x2 = x * x;
  if (x < 0.05)
    return 2.0 / 3.0 * M_2_SQRTPI * pow(EWALD_ALPHA, 3) * (1.0 - 0.6 * x2 + 3.0 / 14.0 * x2 * x2 - x2 * x2 * x2 / 18.0);
  return (erf(x) - M_2_SQRTPI * x * exp(-x2)) / (r * r * r);
}

/**
 * Accelerations of the particles 0, stride, 2 stride ... for G m = L = 1.
 * @param x       [n][3] positions in [0, 1)
 * @param epsilon softening (the same length unit) of the nearest image
 * @param[out] a  [3] for each target
 */
static inline void ewald_accelerations(const double *x, size_t n, size_t stride, double epsilon, int plummer,
                                       double *a) {
  double complex(*density) = calloc(EWALD_MODES, sizeof *density), phase[3][EWALD_SIDE];
  if (!density) abort();
  for (size_t j = 0; j < n; j++) {
    ewald_phases(x + 3 * j, phase);
    for (int k = 0; k < EWALD_MODES; k++)
      density[k] += conj(phase[0][k / EWALD_SIDE / EWALD_SIDE] * phase[1][k / EWALD_SIDE % EWALD_SIDE] *
                         phase[2][k % EWALD_SIDE]);
  }
  for (size_t i = 0; i < n; i += stride, a += 3) {
    memset(a, 0, 3 * sizeof *a);
    ewald_phases(x + 3 * i, phase);
    for (int k = 0; k < EWALD_MODES; k++) {
      const int m[3] = {k / EWALD_SIDE / EWALD_SIDE - EWALD_WAVES, k / EWALD_SIDE % EWALD_SIDE - EWALD_WAVES,
                        k % EWALD_SIDE - EWALD_WAVES};
      const double m2 = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
      if (m2 == 0.0) continue; /* the mean density does not attract */
      double complex wave = density[k] * phase[0][m[0] + EWALD_WAVES] * phase[1][m[1] + EWALD_WAVES] *
                            phase[2][m[2] + EWALD_WAVES];
      double factor = 2.0 * cimag(wave) / m2 * exp(-M_PI * M_PI * m2 / (EWALD_ALPHA * EWALD_ALPHA));
      for (int c = 0; c < 3; c++) a[c] -= factor * m[c];
    }
    for (size_t j = 0; j < n; j++) {
      double d[3];
      for (int c = 0; c < 3; c++) {
        d[c] = x[3 * j + (size_t)c] - x[3 * i + (size_t)c];
        d[c] -= floor(d[c] + 0.5);
      }
      for (int image = 0; image < 27; image++) {
        const int shift[3] = {image / 9 - 1, image / 3 % 3 - 1, image % 3 - 1};
        const double e[3] = {d[0] + shift[0], d[1] + shift[1], d[2] + shift[2]};
        const double r = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
        const int nearest = image == 13;
        if (r > 1.5 || r == 0.0) continue;
        double factor = (nearest ? softened_attraction(r, epsilon, plummer) : 1.0 / (r * r * r)) - ewald_smooth(r);
        for (int c = 0; c < 3; c++) a[c] += factor * e[c];
      }
    }
  }
  free(density);
}

#endif
