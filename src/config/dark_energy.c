/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/config/dark_energy.h"

#include <math.h>

/** The first row behind a; `rows`: none. */
static size_t row_behind(const struct w_table *t, double a) {
  size_t low = 0, high = t->rows;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (t->a[middle] > a)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/** Slope of w in front of a row; 0 in front of the first and behind the last one. */
static double slope(const struct w_table *t, size_t row) {
  if (row == 0 || row == t->rows) return 0.0;
  return (t->w[row] - t->w[row - 1]) / (t->a[row] - t->a[row - 1]);
}

double dark_energy_w(const struct w_table *t, double w0, double wa, double a) {
  if (t->rows == 0) return w0 + wa * (1.0 - a);
  const size_t row = row_behind(t, a), near = row < t->rows ? row : row - 1;
  return t->w[near] + slope(t, row) * (a - t->a[near]);
}

/** 3 int_a^b (1 + w) dln a with w = w(b) + s (a - b). */
static double integral(double a, double b, double w_b, double s) {
  return 3.0 * ((1.0 + w_b - s * b) * log(b / a) + s * (b - a));
}

double dark_energy_density(const struct w_table *t, double w0, double wa, double a) {
  if (t->rows == 0) return pow(a, -3.0 * (1.0 + w0 + wa)) * exp(-3.0 * wa * (1.0 - a));
  const size_t row = row_behind(t, a), near = row < t->rows ? row : row - 1;
  return exp(t->ln_density[near] + integral(a, t->a[near], t->w[near], slope(t, row)));
}

void w_table_integrate(struct w_table *t) {
  for (size_t i = t->rows; i-- > 0;)
    t->ln_density[i] = i + 1 == t->rows
                           ? integral(t->a[i], 1.0, t->w[i], 0.0)
                           : t->ln_density[i + 1] +
                                 integral(t->a[i], t->a[i + 1], t->w[i + 1], slope(t, i + 1));
}
