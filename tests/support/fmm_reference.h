/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of the force split and its derivatives in long double, for the tests of the FMM
 * operators. */
#ifndef PHOTONS_TESTS_FMM_REFERENCE_H
#define PHOTONS_TESTS_FMM_REFERENCE_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "photons/tree/split.h"

enum { TERMS_MAX = 84, SERIES = 200 };
enum { NEWTON, GAUSS, KAISER, LAWS };

/** psi = 1/r - H with H's power series in long double; after the cancellation of the alternating
 * terms 12 digits are left. */
struct law {
  struct split split;
  long double h[SERIES];
};

static struct law make_law(int which) {
  struct law l = {.split = {.fmm_range = FLT_MAX}};
  if (which == NEWTON) return l;
  const double r_s = 1.2, ratio = 5.0;
  split_init(&l.split, which == GAUSS ? SPLIT_GAUSS : SPLIT_KAISER, r_s, ratio * r_s, 9);
  const long double g2 = 0.25L * ratio * ratio, beta2 = 0.25L * ratio * ratio * ratio * ratio;
  long double sum = 0.0L;
  for (int j = 0; j < SERIES; j++) { /* w(v) = sum a_j v^j; H(u) = int_0^1 w(u y^2) dy = sum a_j u^j
                                        / (2j + 1) */
    long double a;
    if (which == GAUSS) { /* w = 2/sqrt(pi) g exp(-g^2 v) */
      a = 1.12837916709551257390L * sqrtl(g2);
      for (int k = 1; k <= j; k++) a *= -g2 / k;
    } else { /* w ~ I0(beta sqrt(1 - v)) = sum (beta^2/4)^k (1 - v)^k / k!^2, of which (1 - v)^k
                gives binomial(k, j) (-v)^j */
      long double term = j % 2 ? -1.0L : 1.0L;
      for (int k = 1; k <= j; k++) term *= beta2 / 4 / ((long double)k * k);
      a = term;
      for (int k = j + 1; k < j + 100; k++) {
        term *= beta2 / 4 / ((long double)k * k) * k / (k - j);
        a += term;
      }
    }
    l.h[j] = a / (2 * j + 1);
    sum += l.h[j];
  }
  if (which == KAISER) /* all of the cloud's mass lies within r_cut: H(1) = 1 */
    for (int j = 0; j < SERIES; j++) l.h[j] /= sum;
  return l;
}

/** 2^n d^n H/du^n. */
static long double law_h(const struct law *l, int n, long double u) {
  long double sum = 0.0L;
  for (int j = SERIES - 1; j >= n; j--) {
    long double falling = 1.0L;
    for (int i = 0; i < n; i++) falling *= 2 * (j - i);
    sum = sum * u + falling * l->h[j];
  }
  return sum;
}

struct index {
  int n[3];
};

static int place(int a, int b, int c) {
  int d = a + b + c, rest = b + c;
  return d * (d + 1) * (d + 2) / 6 + rest * (rest + 1) / 2 + c;
}

/** Multi-indices in the order that fmm.h defines. */
static const struct index *indices(void) {
  static struct index table[TERMS_MAX];
  for (int a = 0; a <= FMM_ORDER_MAX; a++)
    for (int b = 0; a + b <= FMM_ORDER_MAX; b++)
      for (int c = 0; a + b + c <= FMM_ORDER_MAX; c++)
        table[place(a, b, c)] = (struct index){{a, b, c}};
  return table;
}

static int degree(struct index i) { return i.n[0] + i.n[1] + i.n[2]; }

static double factorial(struct index i) {
  double f = 1.0;
  for (int c = 0; c < 3; c++)
    for (int k = 2; k <= i.n[c]; k++) f *= k;
  return f;
}

static double power(const double x[3], struct index i) {
  double f = 1.0;
  for (int c = 0; c < 3; c++)
    for (int k = 0; k < i.n[c]; k++) f *= x[c];
  return f;
}

/**
 * D_n = grad^n psi at R by composition of Taylor series, unlike the recurrence in the program: psi
 * at |R + y| is sum_q f_(q) / (2^q q!) s^q with s = 2 R.y + y^2, and D_n / n! is the coefficient of
 * y^n.
 * @param[out] bound  the same with every term replaced by the largest value of its parts; rounding
 * errors are relative to it
 */
static void derivatives(const struct law *l, const double r[3], long double *d, double *bound) {
  const struct index *index = indices();
  long double r2 = 0.0L, s_power[2][TERMS_MAX] = {{1.0L}, {1.0L}};
  for (int c = 0; c < 3; c++) r2 += (long double)r[c] * r[c];
  for (int i = 0; i < TERMS_MAX; i++) d[i] = bound[i] = 0.0;
  long double newton = 1.0L / sqrtl(r2), q_factorial = 1.0L;
  for (int q = 0; q <= FMM_ORDER_MAX; q++) {
    long double f = newton - law_h(l, q, r2), f_bound = fabsl(newton) + fabsl(law_h(l, q, 0.0L));
    for (int i = 0; i < TERMS_MAX; i++) {
      d[i] += f / q_factorial * s_power[0][i] * factorial(index[i]);
      bound[i] += (double)(f_bound / q_factorial * s_power[1][i] * factorial(index[i]));
    }
    newton *= -(2 * q + 1) / r2;
    q_factorial *= 2.0L * (q + 1);
    for (int with_bound = 0; with_bound < 2; with_bound++) {
      long double next[TERMS_MAX] = {0.0L};
      for (int i = 0; i < TERMS_MAX; i++)
        for (int c = 0; c < 3; c++)
          for (int k = 1; k <= 2 && degree(index[i]) + k <= FMM_ORDER_MAX; k++) {
            struct index to = index[i];
            to.n[c] += k;
            long double factor = k == 2       ? 1.0L
                                 : with_bound ? 2.0L * fabsl((long double)r[c])
                                              : 2.0L * (long double)r[c];
            next[place(to.n[0], to.n[1], to.n[2])] += factor * s_power[with_bound][i];
          }
      memcpy(s_power[with_bound], next, sizeof next);
    }
  }
}

#endif
