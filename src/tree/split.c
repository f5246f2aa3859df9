/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The force split and its polynomials. Here r_cut is the unit of length: x = r / r_cut, u = x^2,
 * and
 * t = 2u - 1.
 *
 * In both families the long-range potential of a unit mass is that of a cloud: H = W(x) / x, where
 * W = int_0^x w, so that H(u) = int_0^1 w(u y^2) dy. Everything is computed from the Taylor series
 * of H about u = 1/2. The series about 0 alternates in sign and loses up to seven digits at
 * r_cut = 8 r_s; the series about 1/2 does not. */
#include "photons/tree/split.h"

#include <gsl/gsl_integration.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_poly.h>
#include <gsl/gsl_sf_bessel.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"

/* Exact for y^(2k), k < SPLIT_SERIES, times a polynomial of that degree. */
#define QUADRATURE_POINTS 128
#define FIT_POINTS 2048 /* points of the grid for the minimax fit */
#define FIT_EXCHANGES 100
#define POTENTIAL_ERROR 5e-8 /* of H(0), about half of float's rounding */
#define PAPER_TABLE_END 3.0  /* the table of PhotoNs-GPU ends at x' = 3 */
/* The least leading coefficient of the adapted form: with a smaller one its other numbers are so large that
 * floats err. */
#define ADAPTED_LEAST 0.1

/** d^k w/du^k at u in [0, 1/2]. w is normalised such that int_0^1 w dx = W(1), which is 1 (kaiser)
 * or erf(r_cut / 2 r_s) (gauss). */
static double cloud_derivative(const struct split *s, int k, double u) {
  if (s->kind == SPLIT_GAUSS) {
    double g = 0.5 * s->r_cut / s->r_s;
    return M_2_SQRTPI * g * gsl_pow_int(-g * g, k) * exp(-g * g * u);
  }
  /* (1/z d/dz)^k I0(z) = I_k(z) / z^k (Abramowitz & Stegun 9.6.28) with z^2 = beta^2 (1 - u). */
  double root = sqrt(1.0 - u), z = s->beta * root;
  double norm = -expm1(-2.0 * s->beta) / (2.0 * s->beta); /* sinh(beta)/beta e^-beta */
  return gsl_pow_int(-0.5 * s->beta / root, k) * gsl_sf_bessel_In_scaled(k, z) * exp(z - s->beta) /
         norm;
}

/** Both series of H. All integrands are positive and smooth, so each coefficient has full relative
 * accuracy. */
static void expand_series(struct split *s) {
  gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(QUADRATURE_POINTS);
  if (rule == NULL)
    fail(EXIT_RUN_FAILED, "not enough memory for the quadrature of the force split");
  double factorial = 1.0;
  for (int k = 0; k < SPLIT_SERIES; k++) {
    if (k > 0) factorial *= k;
    double sum = 0.0;
    for (size_t i = 0; i < QUADRATURE_POINTS; i++) {
      double y, weight;
      gsl_integration_glfixed_point(0.0, 1.0, i, &y, &weight, rule);
      sum += weight * gsl_pow_int(y * y, k) * cloud_derivative(s, k, 0.5 * y * y);
    }
    s->middle[k] = ldexp(sum / factorial, -k);
    s->series[k] = cloud_derivative(s, k, 0.0) / factorial / (2 * k + 1);
  }
  gsl_integration_glfixed_table_free(rule);
}

double split_series_derivative(const struct split *s, int n, double u) {
  double t = 2.0 * u - 1.0, sum = 0.0;
  for (int k = SPLIT_SERIES - 1; k >= n; k--) {
    double falling = 1.0;
    for (int i = 0; i < n; i++) falling *= 2.0 * (k - i); /* dt/du = 2 */
    sum = sum * t + falling * s->middle[k];
  }
  return sum;
}

/** h = -2 dH/du. */
static double series_h(const struct split *s, double u) {
  return -2.0 * split_series_derivative(s, 1, u);
}

double split_force(const struct split *s, double r) {
  double x = r / s->r_cut;
  return x > 1.0 ? 0.0 : 1.0 - x * x * x * series_h(s, x * x);
}

double split_mesh_factor(const struct split *s, double k) {
  if (s->kind == SPLIT_GAUSS) return exp(-k * k * s->r_s * s->r_s);
  double q = k * s->r_cut, square = s->beta * s->beta - q * q, root = sqrt(fabs(square));
  double norm = -2.0 * s->beta / expm1(-2.0 * s->beta); /* beta / sinh(beta) e^beta */
  if (root < 1e-4) return norm * exp(-s->beta) * (1.0 + square / 6.0);
  if (square > 0.0) return norm * exp(root - s->beta) * -expm1(-2.0 * root) / (2.0 * root);
  return norm * exp(-s->beta) * sin(root) / root;
}

/** Horner's rule in t. */
static double polynomial(const double *coefficient, int degree, double t) {
  double sum = coefficient[degree];
  for (int k = degree - 1; k >= 0; k--) sum = sum * t + coefficient[k];
  return sum;
}

/** The grid of the minimax fit: target(t) and its weight x^2 for t in (-1, 1], denser towards the
 * ends. */
struct fit_grid {
  double t[FIT_POINTS], weight[FIT_POINTS], target[FIT_POINTS];
};

static double fit_error(const struct fit_grid *grid, const double *coefficient, int degree,
                        size_t i) {
  return grid->weight[i] * (grid->target[i] - polynomial(coefficient, degree, grid->t[i]));
}

/** Find the polynomial whose weighted errors at the degree + 2 points of @p reference are equal and
 * alternate in sign. */
static void fit_reference(const struct fit_grid *grid, const size_t *reference, int degree,
                          double *coefficient) {
  double matrix[(P2P_DEGREE_MAX + 2) * (P2P_DEGREE_MAX + 2)], rhs[P2P_DEGREE_MAX + 2],
      solution[P2P_DEGREE_MAX + 2];
  size_t permutation_data[P2P_DEGREE_MAX + 2] = {0}, n = (size_t)degree + 2;
  for (size_t row = 0; row < n; row++) {
    size_t i = reference[row];
    for (size_t k = 0; k + 1 < n; k++)
      matrix[row * n + k] = grid->weight[i] * gsl_pow_int(grid->t[i], (int)k);
    matrix[row * n + n - 1] = row % 2 ? -1.0 : 1.0;
    rhs[row] = grid->weight[i] * grid->target[i];
  }
  gsl_matrix_view a = gsl_matrix_view_array(matrix, n, n);
  gsl_vector_view b = gsl_vector_view_array(rhs, n), x = gsl_vector_view_array(solution, n);
  gsl_permutation permutation = {.size = n, .data = permutation_data};
  int sign;
  if (gsl_linalg_LU_decomp(&a.matrix, &permutation, &sign) ||
      gsl_linalg_LU_solve(&a.matrix, &permutation, &b.vector, &x.vector))
    fail(EXIT_RUN_FAILED, "the fit of the force kernel has no solution");
  memcpy(coefficient, solution, (n - 1) * sizeof *coefficient);
}

/** Put @p point into the reference in place of a neighbour whose error has the same sign, so that
 * the signs still alternate. */
static void fit_exchange(const struct fit_grid *grid, const double *coefficient, int degree,
                         size_t *reference, size_t point) {
  size_t last = (size_t)degree + 1, right = 0;
  bool positive = fit_error(grid, coefficient, degree, point) > 0.0;
  while (right <= last && reference[right] < point) right++;
  if (right <= last && (fit_error(grid, coefficient, degree, reference[right]) > 0.0) == positive) {
    reference[right] = point;
  } else if (right > 0 &&
             (fit_error(grid, coefficient, degree, reference[right - 1]) > 0.0) == positive) {
    reference[right - 1] = point;
  } else if (right == 0) {
    memmove(reference + 1, reference, last * sizeof *reference);
    reference[0] = point;
  } else {
    memmove(reference, reference + 1, last * sizeof *reference);
    reference[last] = point;
  }
}

/** The polynomial with the smallest largest weighted error, by Remez' algorithm with one point
 * exchanged at a time. Returns that error. */
static double fit_minimax(const struct fit_grid *grid, int degree, double *coefficient) {
  size_t reference[P2P_DEGREE_MAX + 2] = {0};
  for (int i = 0; i <= degree + 1; i++)
    reference[i] = (size_t)((i + 1) * (FIT_POINTS - 1) / (degree + 2));
  double largest = 0.0;
  for (int exchange = 0; exchange < FIT_EXCHANGES; exchange++) {
    fit_reference(grid, reference, degree, coefficient);
    size_t worst = 0;
    largest = 0.0;
    for (size_t i = 0; i < FIT_POINTS; i++) {
      double error = fabs(fit_error(grid, coefficient, degree, i));
      if (error > largest) largest = error, worst = i;
    }
    if (largest <= 1.0001 * fabs(fit_error(grid, coefficient, degree, reference[0]))) break;
    fit_exchange(grid, coefficient, degree, reference, worst);
  }
  return largest;
}

/** Fit p2p. Coefficients are rounded to float from the highest down; after each rounding the lower
 * ones are fitted again to compensate for it. */
static void fit_p2p(struct split *s) {
  struct fit_grid *grid = allocate(1, sizeof *grid, "fit of the force kernel");
  for (size_t i = 0; i < FIT_POINTS; i++) {
    grid->t[i] = -cos(M_PI * (double)(i + 1) / FIT_POINTS);
    double u = 0.5 * (1.0 + grid->t[i]);
    grid->weight[i] = u;
    grid->target[i] = series_h(s, u);
  }
  for (int degree = s->p2p_degree; degree >= 0; degree--) {
    double coefficient[P2P_DEGREE_MAX + 1];
    fit_minimax(grid, degree, coefficient);
    s->p2p[degree] = (float)coefficient[degree];
    for (size_t i = 0; i < FIT_POINTS; i++)
      grid->target[i] -= (double)s->p2p[degree] * gsl_pow_int(grid->t[i], degree);
  }
  for (size_t i = 0; i < FIT_POINTS; i++)
    s->p2p_error = fmax(s->p2p_error,
                        sqrt(grid->weight[i]) * fabs(grid->weight[i] * grid->target[i]));
  free(grid);
}

/** Find the adapted form of p2p. With w = u^3 + A u^2 + B u + C and w + z + a[4] = u^3 + (A + 1) u^2 +
 * (B + a[0]) u + D the powers of u leave a cubic equation for y = a[0]/2, which always has a real
 * root. */
static void adapt_p2p(struct split *s) {
  double power[7] = {0.0}, *a = s->adapted, y, other[2];
  if (s->p2p_degree != 6) return;
  for (int k = 6; k >= 0; k--) { /* from powers of t: power = power * (2u - 1) + p2p[k] */
    for (int i = 6; i > 0; i--) power[i] = 2.0 * power[i - 1] - power[i];
    power[0] = (double)s->p2p[k] - power[0];
  }
  s->adapts = power[6] > ADAPTED_LEAST;
  if (!s->adapts) return;
  a[6] = power[6];
  for (int k = 0; k < 6; k++) power[k] /= a[6];
  const double A = 0.5 * (power[5] - 1.0), middle = 0.5 * (power[4] - A * (A + 1.0));
  const double sum = power[3] - power[5] * middle; /* C + D - y */
  const double rest = power[2] - middle * middle - A * sum;
  gsl_poly_solve_cubic(-0.5 * power[5], 0.5 * (middle - sum) + rest,
                       0.5 * (middle * sum - power[1]), &y, &other[0], &other[1]);
  const double B = middle - y, C = y * y - A * y + rest, D = sum + y - C;
  a[0] = 2.0 * y;
  a[2] = A - a[0];
  a[1] = B - a[0] * a[2];
  a[3] = C - a[1] * a[2];
  a[4] = D - C - a[1];
  a[5] = power[0] - C * D;
}

/**
 * Interpolate 2^n H^(n) on [0, range] at the Chebyshev points, and convert T_k(t) to powers of t. The last
 * terms are left out as long as they do not add up to more than `error`.
 * @param[out] power  [FMM_DEGREE + 1]
 * @return the degree
 */
static int fit_chebyshev(const struct split *s, int n, double range, double error, float *power) {
  enum { POINTS = FMM_DEGREE + 1 };
  double value[POINTS], of_t[POINTS] = {0}, sum[POINTS] = {0}, previous[POINTS] = {1.0},
                        current[POINTS] = {0.0, 1.0};
  for (int i = 0; i < POINTS; i++) {
    double t = cos(M_PI * (i + 0.5) / POINTS);
    value[i] = ldexp(split_series_derivative(s, n, 0.5 * (1.0 + t) * range), n);
  }
  for (int k = 0; k < POINTS; k++) {
    for (int i = 0; i < POINTS; i++) sum[k] += value[i] * cos(M_PI * k * (i + 0.5) / POINTS);
    sum[k] *= (k == 0 ? 1.0 : 2.0) / POINTS;
  }
  int degree = FMM_DEGREE;
  while (degree > 0 && (error -= fabs(sum[degree])) >= 0.0) degree--;
  for (int k = 0; k <= degree; k++) { /* previous = T_k, current = T_(k+1) */
    for (int j = 0; j <= k; j++) of_t[j] += sum[k] * previous[j];
    for (int j = POINTS - 1; j >= 0; j--) {
      double next = (j > 0 ? 2.0 * current[j - 1] : 0.0) - previous[j];
      previous[j] = current[j], current[j] = next;
    }
  }
  for (int k = 0; k < POINTS; k++) power[k] = (float)of_t[k];
  return degree;
}

/** d^q T/dx^q / q!, q = 0 .. 4, from w^(j) = (2j + 1) H^(j) + 2 u H^(j+1) and dT/dx = x dw/dx. */
static void force_taylor(const struct split *s, double x, double taylor[TABLE_ORDER_MAX + 1]) {
  double u = x * x, w[TABLE_ORDER_MAX + 1];
  for (int j = 1; j <= TABLE_ORDER_MAX; j++)
    w[j] = (2 * j + 1) * split_series_derivative(s, j, u) +
           2.0 * u * split_series_derivative(s, j + 1, u);
  taylor[0] = 1.0 - x * u * series_h(s, u);
  taylor[1] = 2.0 * u * w[1];
  taylor[2] = x * (4.0 * w[1] + 4.0 * u * w[2]) / 2.0;
  taylor[3] = (4.0 * w[1] + u * (20.0 * w[2] + 8.0 * u * w[3])) / 6.0;
  taylor[4] = x * (48.0 * w[2] + u * (72.0 * w[3] + 16.0 * u * w[4])) / 24.0;
}

/** Fill the table of PhotoNs-GPU. The entry that contains the cutoff is continued beyond it; later
 * ones are zero. */
static void fill_table(struct split *s) {
  double to_x = 2.0 * s->r_s / s->r_cut; /* x = r / r_cut per x' = r / (2 r_s) */
  s->table_step = fmax(PAPER_TABLE_END, 1.0 / to_x) / TABLE_ENTRIES;
  for (int i = 0; i < TABLE_ENTRIES && i * s->table_step * to_x <= 1.0; i++) {
    double taylor[TABLE_ORDER_MAX + 1];
    force_taylor(s, (i + 0.5) * s->table_step * to_x, taylor);
    for (int q = 0; q <= TABLE_ORDER_MAX; q++)
      s->table[i][q] = (float)(taylor[q] * gsl_pow_int(to_x, q));
  }
}

double split_table_value(const struct split *s, int order, double r) {
  if (r > s->r_cut) return 0.0;
  float x = (float)(r / (2.0 * s->r_s)), step = (float)s->table_step;
  int i = (int)(x / step);
  if (i > TABLE_ENTRIES - 1) i = TABLE_ENTRIES - 1;
  float d = x - ((float)i + 0.5f) * step, sum = s->table[i][order];
  for (int q = order - 1; q >= 0; q--) sum = sum * d + s->table[i][q];
  return (double)sum;
}

double split_polynomial_value(const struct split *s, double r) {
  if (r > s->r_cut) return 0.0;
  float x = (float)(r / s->r_cut), u = x * x, t = 2.0f * u - 1.0f, h = s->p2p[s->p2p_degree];
  for (int k = s->p2p_degree - 1; k >= 0; k--) h = h * t + s->p2p[k];
  return (double)(1.0f - x * u * h);
}

void split_init_newton(struct split *s, double unit) {
  /* All of H is zero. Nodes are less than a unit apart. */
  *s = (struct split){.kind = SPLIT_NEWTON, .r_cut = unit, .unit = 1.0f, .fmm_range = 2.0f};
}

void split_init(struct split *s, enum split_kind kind, double r_s, double r_cut, int p2p_degree) {
  double ratio = r_cut / r_s;
  *s = (struct split){
      .kind = kind, .r_s = r_s, .r_cut = r_cut, .unit = 1.0f, .p2p_degree = p2p_degree};
  if (kind == SPLIT_KAISER) s->beta = 0.5 * ratio * ratio;
  expand_series(s);
  fit_p2p(s);
  adapt_p2p(s);
  s->fmm_range = (float)fmax(1.0, gsl_pow_2(8.0 / ratio));
  for (int n = 0; n <= FMM_ORDER_MAX; n++)
    fit_chebyshev(s, n, (double)s->fmm_range, 0.0, s->fmm[n]);
  s->potential_degree = fit_chebyshev(s, 0, 1.0, POTENTIAL_ERROR * s->series[0], s->potential);
  fill_table(s);
}
