/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/cosmology/linear_statistics.h"

#include <math.h>

#include "photons/cosmology/linear_power.h"

#define LOG_STEP 0.01 /* of an integral, of k */

/** The root of the integral of P(k) k^power/(2 pi^2) dk. */
static double rms_of_waves(const struct linear_power *linear, double low, double high,
                           double power) {
  double square = 0.0;
  for (double from = low; from < high;) {
    const double to = fmin(from * (1.0 + LOG_STEP), high), k = 0.5 * (from + to);
    square += (to - from) * pow(k, power) * linear_power_at(linear, k) / (2.0 * M_PI * M_PI);
    from = to;
  }
  return sqrt(square);
}

double linear_displacement(const struct linear_power *linear, double low, double high) {
  return rms_of_waves(linear, low, high, 0.0);
}

double linear_contrast(const struct linear_power *linear, double low, double high) {
  return rms_of_waves(linear, low, high, 2.0);
}

/** F2 of two sides. @param opposite  the third side */
static double second_order_kernel(double a, double b, double opposite) {
  const double cosine = (opposite * opposite - a * a - b * b) / (2.0 * a * b);
  return 5.0 / 7.0 + 0.5 * cosine * (a / b + b / a) + 2.0 / 7.0 * cosine * cosine;
}

double tree_bispectrum(const double k[3], const double power[3]) {
  double sum = 0.0;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    sum += 2.0 * second_order_kernel(k[i], k[j], k[l]) * power[i] * power[j];
  }
  return sum;
}

double cyclic_products(const double power[3]) {
  return power[0] * power[1] + power[1] * power[2] + power[2] * power[0];
}
