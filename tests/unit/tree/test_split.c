/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The force split against closed forms and quadratures that src/tree/split.c does not use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_bessel.h>

#include "photons/tree/split.h"
#include "support/assert_near.h"

static const double ratios[] = {3.0, 5.0, 6.0, 8.0}; /* r_cut / r_s */
#define RATIOS (sizeof ratios / sizeof *ratios)
#define SAMPLES 1000
#define R_S 0.7 /* Mpc/h; any value that is not 1 */

static double gauss_force(double x) { return erfc(x) + M_2_SQRTPI * x * exp(-x * x); }

static double kaiser_window(double x, void *beta) {
  double z = *(double *)beta * sqrt(1.0 - x * x);
  return gsl_sf_bessel_I0_scaled(z) * exp(z - *(double *)beta);
}

static double integrate(double (*f)(double, void *), void *parameter, double from, double to) {
  double result, error;
  gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
  gsl_function integrand = {f, parameter};
  assert_int_equal(gsl_integration_qag(&integrand, from, to, 0.0, 1e-13, 1000, GSL_INTEG_GAUSS61,
                                       work, &result, &error),
                   0);
  gsl_integration_workspace_free(work);
  return result;
}

static double kaiser_force(double beta, double x) {
  double norm = integrate(kaiser_window, &beta, 0.0, 1.0);
  return 1.0 - (integrate(kaiser_window, &beta, 0.0, x) - x * kaiser_window(x, &beta)) / norm;
}

/* 1e-12: the accuracy that split.h promises, some thousand roundings. */
static void test_force_gauss(void **state) {
  (void)state;
  for (size_t i = 0; i < RATIOS; i++) {
    struct split s;
    split_init(&s, SPLIT_GAUSS, R_S, R_S * ratios[i], 8);
    for (int j = 0; j < SAMPLES; j++) {
      double r = s.r_cut * j / SAMPLES;
      assert_near(split_force(&s, r), gauss_force(r / (2.0 * R_S)), 1e-12);
    }
    assert_near(split_force(&s, 1.0001 * s.r_cut), 0.0, 0.0);
  }
}

static void test_force_kaiser(void **state) {
  (void)state;
  for (size_t i = 0; i < RATIOS; i++) {
    struct split s;
    split_init(&s, SPLIT_KAISER, R_S, R_S * ratios[i], 8);
    assert_near(s.beta, 0.5 * ratios[i] * ratios[i], 1e-12);
    for (int j = 0; j <= 50; j++)
      assert_near(split_force(&s, s.r_cut * j / 50.0), kaiser_force(s.beta, j / 50.0), 1e-12);
    assert_near(split_force(&s, s.r_cut), s.beta / sinh(s.beta), 1e-12);
    assert_near(split_force(&s, 1.0001 * s.r_cut), 0.0, 0.0);
  }
}

/* The two series are one function; that about 0 has terms up to e^(ratio^2 / 4) and loses as many
 * digits. */
static void test_series_about_zero(void **state) {
  (void)state;
  for (int kind = SPLIT_GAUSS; kind <= SPLIT_KAISER; kind++)
    for (size_t i = 0; i < RATIOS; i++) {
      struct split s;
      split_init(&s, kind, R_S, R_S * ratios[i], 8);
      double tolerance = 1e-15 * exp(0.25 * ratios[i] * ratios[i]);
      for (int j = 0; j <= 50; j++) {
        double u = j / 50.0, sum = 0.0;
        for (int k = SPLIT_SERIES - 1; k >= 0; k--) sum = sum * u + s.series[k];
        assert_near(sum, split_series_derivative(&s, 0, u), tolerance);
      }
    }
}

/* Gauss: the recurrence of the closed form, f_(n+1) = -[(2n+1) f_(n) + g_n] / x^2, Newton's part
 * added back. Near x = 0 that recurrence cancels, hence x >= 1/2. Kaiser: a central difference of
 * the derivative before, whose truncation error is step^2/6 H^(n+2), and whose rounding 1e-16
 * H^(n-1)/step; both below 1e-7 of the largest value. */
static void test_derivatives(void **state) {
  (void)state;
  struct split s;
  split_init(&s, SPLIT_GAUSS, R_S, 5.0 * R_S, 8);
  double g = 2.5; /* r_cut / (2 r_s) */
  for (int j = 10; j <= 20; j++) {
    double x = j / 20.0, u = x * x, f = erfc(g * x) / x, newton = 1.0 / x;
    double boundary = M_2_SQRTPI * g * exp(-g * g * u);
    for (int n = 0; n <= FMM_ORDER_MAX; n++) {
      double expected = newton - f;
      assert_near(ldexp(split_series_derivative(&s, n, u), n), expected, 1e-10 * fabs(newton));
      f = -((2 * n + 1) * f + boundary) / u;
      newton *= -(2 * n + 1) / u;
      boundary *= -2.0 * g * g;
    }
  }
  split_init(&s, SPLIT_KAISER, R_S, 5.0 * R_S, 8);
  for (int n = 1; n <= FMM_ORDER_MAX; n++) {
    double scale = fabs(split_series_derivative(&s, n, 0.0)), step = 3e-5;
    for (int j = 0; j <= 20; j++) {
      double u = 0.01 + 0.98 * j / 20.0;
      double difference = split_series_derivative(&s, n - 1, u + step) -
                          split_series_derivative(&s, n - 1, u - step);
      assert_near(split_series_derivative(&s, n, u) / scale, difference / (2.0 * step) / scale,
                  1e-7);
    }
  }
}

/** Integrand of r psi_long = (2/pi) int S(k) sin(k r)/k dk. */
struct transform {
  const struct split *split;
  double r;
};

static double transform_integrand(double k, void *parameter) {
  const struct transform *t = parameter;
  return M_2_PI * split_mesh_factor(t->split, k) * (k > 0.0 ? sin(k * t->r) / k : t->r);
}

/* Real-space and Fourier-space pieces sum to Newton: 4 pi/k^2 S(k) transforms back to (1 - r
 * psi)/r. The kaiser factor falls as 1/k only (its cloud ends with a jump), and what lies beyond
 * the end of the integral is below (beta/sinh beta) / 2000. */
static void test_pieces_sum_to_newton(void **state) {
  (void)state;
  for (int kind = SPLIT_GAUSS; kind <= SPLIT_KAISER; kind++)
    for (size_t i = 0; i < RATIOS; i++) {
      struct split s;
      split_init(&s, kind, R_S, R_S * ratios[i], 8);
      double tolerance = kind == SPLIT_GAUSS ? 1e-12 : 1e-12 + s.beta / sinh(s.beta) / 2000.0;
      for (int j = 1; j <= 5; j++) {
        double x = 0.19 * j;
        struct transform t = {.split = &s, .r = x * s.r_cut};
        double sum = 0.0, panel = 10.0 / s.r_cut;
        for (int k = 0; k < 200; k++) {
          gsl_function f = {transform_integrand, &t};
          double part, error;
          size_t calls;
          gsl_integration_cquad_workspace *work = gsl_integration_cquad_workspace_alloc(100);
          gsl_integration_cquad(&f, k * panel, (k + 1) * panel, 1e-15, 1e-13, work, &part, &error,
                                &calls);
          gsl_integration_cquad_workspace_free(work);
          sum += part;
        }
        assert_near(x * split_series_derivative(&s, 0, x * x), sum, tolerance);
      }
    }
}

/* Both branches of the kaiser factor meet in beta/sinh(beta) where k r_cut = beta; S(0) = 1; and
 * near 0 it is the Gaussian of the same r_s up to 1/beta. */
static void test_mesh_factor(void **state) {
  (void)state;
  struct split s;
  split_init(&s, SPLIT_KAISER, R_S, 5.0 * R_S, 8);
  double k = s.beta / s.r_cut, value = s.beta / sinh(s.beta);
  for (int i = -3; i <= 3; i++)
    assert_near(split_mesh_factor(&s, k * (1.0 + 1e-9 * i)), value, 1e-6 * value);
  assert_near(split_mesh_factor(&s, 0.0), 1.0, 1e-14);
  double small = 0.01 / R_S,
         slope = log(split_mesh_factor(&s, small)) / (small * small * R_S * R_S);
  assert_near(slope, -(1.0 / tanh(s.beta) - 1.0 / s.beta), 1e-4);
  split_init(&s, SPLIT_GAUSS, R_S, 5.0 * R_S, 8);
  assert_near(split_mesh_factor(&s, 1.0 / R_S), exp(-1.0), 1e-14);
}

/** x^2 times the error of the polynomial for h, in double precision. */
static double fit_error(const struct split *s, double x) {
  const double t = 2.0 * x * x - 1.0;
  double h = (double)s->p2p[s->p2p_degree];
  for (int k = s->p2p_degree - 1; k >= 0; k--) h = h * t + (double)s->p2p[k];
  return x * x * (-2.0 * split_series_derivative(s, 1, x * x) - h);
}

/** How often the error swings to at least `least` with another sign than before. */
static int swings(const struct split *s, double least) {
  int n = 0, sign = 0;
  for (int j = 0; j <= 20 * SAMPLES; j++) {
    const double error = fit_error(s, j / (20.0 * SAMPLES));
    const int now = (error >= least) - (error <= -least);
    if (now == 0 || now == sign) continue;
    sign = now;
    n++;
  }
  return n;
}

/* Of all polynomials of a degree that one has the least largest error whose error swings to this value
 * degree + 2 times (Chebyshev). Coefficients rounded to float add at most half a unit in the last
 * place of the lowest one, 2^-24 h(1/2), which from degree 8 on is as large as the error. Between samples the
 * largest error may be 2 % larger, that of the force 1 %. */
static void test_p2p_polynomial(void **state) {
  static const double ratio[] = {5.0, 3.45 / 0.75};
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int degree = 4; degree <= 7; degree++) {
      struct split s;
      split_init(&s, kind == 0 ? SPLIT_GAUSS : SPLIT_KAISER, R_S, ratio[kind] * R_S, degree);
      double rounding = ldexp(-2.0 * split_series_derivative(&s, 1, 0.5), -24), largest = 0.0,
             of_force = 0.0;
      for (int j = 0; j <= SAMPLES; j++) {
        const double x = (double)j / SAMPLES, error = fabs(fit_error(&s, x));
        largest = fmax(largest, error);
        of_force = fmax(of_force, x * error);
      }
      assert_int_equal(swings(&s, 0.98 * largest - 2.0 * rounding), degree + 2);
      assert_near(s.p2p_error, of_force, 1e-2 * of_force);
      /* evaluation in float errs by some units in the last place of h at x = 1 */
      for (int j = 0; j <= SAMPLES; j++) {
        double r = s.r_cut * j / SAMPLES;
        assert_near(split_polynomial_value(&s, r), split_force(&s, r), s.p2p_error + 4e-7);
      }
    }
}

/* The form with half of the multiplications is the same polynomial, also in floats. */
static void test_adapted_polynomial(void **state) {
  (void)state;
  int adapted = 0;
  for (size_t i = 0; i < 2 * RATIOS; i++) {
    struct split s;
    split_init(&s, i % 2 ? SPLIT_GAUSS : SPLIT_KAISER, R_S, R_S * ratios[i / 2], 6);
    const double *a = s.adapted;
    adapted += s.adapts;
    for (int j = 0; j <= SAMPLES && s.adapts; j++) {
      const double u = (double)j / SAMPLES, t = 2.0 * u - 1.0, z = u * (u + a[0]) + a[1],
                   w = (u + a[2]) * z + a[3];
      const float v = (float)u, b[] = {(float)a[0], (float)a[1], (float)a[2], (float)a[3],
                                       (float)a[4], (float)a[5], (float)a[6]};
      const float p = v * (v + b[0]) + b[1], q = (v + b[2]) * p + b[3];
      double h = 0.0;
      for (int k = 6; k >= 0; k--) h = h * t + (double)s.p2p[k];
      assert_near(a[6] * ((w + z + a[4]) * w + a[5]), h, 1e-12 * fabs((double)s.p2p[0]));
      assert_near(u * sqrt(u) * (double)(b[6] * ((q + p + b[4]) * q + b[5])), u * sqrt(u) * h,
                  1e-6);
    }
    split_init(&s, SPLIT_KAISER, R_S, R_S * ratios[i / 2], 7);
    assert_false(s.adapts);
  }
  assert_int_equal(adapted, 6); /* all but the smallest ratio */
}

static void test_fmm_polynomials(void **state) {
  (void)state;
  static const struct {
    enum split_kind kind;
    double ratio;
  } splits[] = {{SPLIT_GAUSS, 5.0}, {SPLIT_GAUSS, 6.0}, {SPLIT_KAISER, 5.0}, {SPLIT_KAISER, 6.0}};
  for (size_t i = 0; i < 4; i++) {
    struct split s;
    split_init(&s, splits[i].kind, R_S, R_S * splits[i].ratio, 8);
    for (int n = 0; n <= FMM_ORDER_MAX; n++) {
      double largest = 0.0, worst = 0.0;
      for (int j = 0; j <= SAMPLES; j++) {
        float u = s.fmm_range * (float)j / SAMPLES, t = 2.0f * u / s.fmm_range - 1.0f, sum = 0.0f;
        for (int k = FMM_DEGREE; k >= 0; k--) sum = sum * t + s.fmm[n][k];
        double exact = ldexp(split_series_derivative(&s, n, (double)u), n);
        largest = fmax(largest, fabs(exact));
        worst = fmax(worst, fabs((double)sum - exact));
      }
      assert_true(worst < 1e-6 * largest); /* some units in the last place of float: M2L needs no
                                              more */
    }
  }
}

/* The degree of H leaves out 5e-8 H(0). Coefficients and Horner's rule are float: a rounding of each
 * coefficient and of each step, of which |sum| bounds the size. */
static void test_potential_polynomial(void **state) {
  (void)state;
  for (int kind = SPLIT_GAUSS; kind <= SPLIT_KAISER; kind++)
    for (size_t i = 0; i < RATIOS; i++) {
      struct split s;
      double size = 0.0;
      split_init(&s, (enum split_kind)kind, R_S, R_S * ratios[i], 8);
      for (int k = 0; k <= FMM_DEGREE; k++) {
        size += fabs((double)s.potential[k]);
        assert_true(k <= s.potential_degree || s.potential[k] == 0.0f);
      }
      for (int j = 0; j <= SAMPLES; j++) {
        float u = (float)j / SAMPLES, t = 2.0f * u - 1.0f, sum = 0.0f;
        for (int k = s.potential_degree; k >= 0; k--) sum = sum * t + s.potential[k];
        assert_near((double)sum, split_series_derivative(&s, 0, (double)u),
                    5e-8 * s.series[0] + ldexp(2.0 * size, -24));
      }
    }
}

/* Taylor's remainder: half an entry to the power q + 1 times the largest next derivative of T over
 * (q + 1)!, plus float rounding of T and of the position in the table (|dT/dx'| 3 2^-24). For
 * orders >= 2 only the rounding is left. */
static void test_table(void **state) {
  (void)state;
  struct split s;
  split_init(&s, SPLIT_GAUSS, R_S, 5.0 * R_S, 8);
  double half = 1.5 / TABLE_ENTRIES, largest[TABLE_ORDER_MAX + 1] = {0};
  assert_near(s.table_step, 2.0 * half, 1e-15);
  for (int q = 0; q <= TABLE_ORDER_MAX; q++)
    for (int j = 0; j < 100 * SAMPLES; j++) {
      double x = 2.5 * j / (100.0 * SAMPLES);
      largest[q] = fmax(largest[q], fabs(split_table_value(&s, q, 2.0 * R_S * x) - gauss_force(x)));
    }
  double first = 4.0 / sqrt(M_PI) * exp(-1.0); /* |T'| at x' = 1 */
  double x2 = (5.0 - sqrt(17.0)) / 4.0;        /* x'^2 where |T''| = (8/sqrt(pi)) x |1 - x^2|
                                                  e^(-x^2) is largest */
  double second = 8.0 / sqrt(M_PI) * sqrt(x2) * (1.0 - x2) * exp(-x2);
  assert_near(largest[0] / (first * half), 1.0, 1e-2);
  assert_near(largest[1] / (second * half * half / 2.0), 1.0, 4e-2);
  for (int q = 2; q <= TABLE_ORDER_MAX; q++) assert_true(largest[q] < 2.5e-7);
  assert_near(split_table_value(&s, 2, 5.001 * R_S), 0.0, 0.0);

  split_init(&s, SPLIT_KAISER, R_S, 8.0 * R_S, 8); /* x' up to 4: the table is stretched */
  assert_near(s.table_step, 4.0 / TABLE_ENTRIES, 1e-15);
  for (int j = 0; j <= 50; j++)
    assert_near(split_table_value(&s, 4, s.r_cut * j / 50.0), kaiser_force(s.beta, j / 50.0),
                2.5e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_force_gauss),
      cmocka_unit_test(test_force_kaiser),
      cmocka_unit_test(test_series_about_zero),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_mesh_factor),
      cmocka_unit_test(test_pieces_sum_to_newton),
      cmocka_unit_test(test_p2p_polynomial),
      cmocka_unit_test(test_adapted_polynomial),
      cmocka_unit_test(test_fmm_polynomials),
      cmocka_unit_test(test_potential_polynomial),
      cmocka_unit_test(test_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
