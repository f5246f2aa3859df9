/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The third order of displacements against the exact equations of motion, and where it must vanish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "src/ic/ic_displacement.h"

#include <cmocka.h>

#include "support/assert_near.h"

enum { N = 24, ORDERS = 3 };
#define BOX 100.0

/** A wave: cos(k q + phase) is the potential of its displacements. */
struct wave {
  int k[3];
  double size, phase; /* size: of the slope of its displacement along k */
};

static const struct growth growth = {.d1 = 1.0, .f1 = 1.0, .d2 = -3.0 / 7.0, .f2 = 2.0};
static const struct third_growth third = {
    .d3a = -1.0 / 3.0, .d3b = 10.0 / 21.0, .d3c = -1.0 / 7.0, .f3 = 3.0};

/** Put waves in the place of random modes. A real field has A(-k) = -A(k)*. */
static void set_waves(struct displacement *d, const struct wave *wave, size_t count) {
  const struct fft_box *b = &d->fft.modes;
  memset(d->modes[FIRST_ORDER], 0, fft_bytes(&d->fft));
  for (size_t w = 0; w < count; w++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const int *k = wave[w].k;
      if (sign * k[2] < 0) continue;
      const int l = sign * k[2];
      const size_t i = (size_t)(sign * k[0] + N) % N, j = (size_t)(sign * k[1] + N) % N;
      double *mode = d->modes[FIRST_ORDER][fft_at(b, i, j, (size_t)l)];
      const double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
      const double a = wave[w].size / (2.0 * square * d->scale * d->scale);
      mode[0] -= a * sin(sign * wave[w].phase);
      mode[1] += a * cos(sign * wave[w].phase);
    }
}

/** The displacements of waves in all orders, in Einstein-de Sitter with D1 = 1. */
static struct displacement displace(const struct wave *wave, size_t count) {
  struct parameters p = {
      .cosmology =
          {.omega_m = 1.0, .omega_b = 0.05, .h = 0.7, .n_s = 1.0, .sigma8 = 0.8, .w0 = -1.0},
      .box = {.size = BOX, .npart_side = N},
      .ic = {.order = ORDERS, .seed = 1, .normalise = true}};
  struct linear_power *power = linear_power_create(&p);
  const struct wave_growth waves = {.a = 1.0, .d1 = growth.d1, .f1 = growth.f1};
  struct displacement d = displacement_create(&p, power, &waves, &growth, N, false);
  linear_power_free(power);
  set_waves(&d, wave, count);
  fftw_free(d.modes[SECOND_ORDER]);
  second_order_modes(&d, &growth);
  third_order_modes(&d, &growth, &third);
  return d;
}

/** The largest displacement of an order. */
static double largest(struct displacement *d, enum displacement_field order) {
  double most = 0.0;
  for (unsigned axis = 0; axis < 3; axis++) {
    displacement_transform(d, axis);
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++)
        for (size_t k = 0; k < N; k++)
          most = fmax(most, fabs(d->field[order][fft_at(&d->fft.values, i, j, k)]));
  }
  return most;
}

/* Plane waves of one direction move as Zel'dovich says, exactly, until they cross. */
static void test_plane_waves(void **state) {
  (void)state;
  static const struct wave waves[] = {{{1, 2, 1}, 0.3, 0.4}, {{2, 4, 2}, 0.2, 1.0}};
  struct displacement d = displace(waves, 2);
  assert_true(largest(&d, FIRST_ORDER) > 1.0);
  assert_near(largest(&d, SECOND_ORDER), 0.0, 1e-13);
  assert_near(largest(&d, THIRD_ORDER), 0.0, 1e-13);
  displacement_free(&d);
}

/* The slope of component a along b, [a][b] of all cells, by differences that are exact for waves: the transform of
 * the field times i k. */
typedef double slopes[3][3][N * N * N];

static void find_slopes(struct displacement *d, enum displacement_field order, slopes to) {
  const size_t bytes = fft_bytes(&d->fft);
  double *modes = fftw_malloc(bytes), *slope = fftw_malloc(bytes);
  for (unsigned a = 0; a < 3; a++) {
    displacement_transform(d, a);
    memcpy(modes, d->field[order], bytes);
    fft_forward(&d->fft, modes);
    for (unsigned b = 0; b < 3; b++) {
      for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
          for (size_t k = 0; k <= N / 2; k++) {
            const size_t at = fft_at(&d->fft.modes, i, j, k), index[3] = {i, j, k};
            const double wave = d->scale * displacement_frequency(d, index[b]) / (N * N * N);
            slope[2 * at] = -wave * modes[2 * at + 1];
            slope[2 * at + 1] = wave * modes[2 * at];
          }
      fft_backward(&d->fft, slope);
      for (size_t i = 0; i < N * N * N; i++)
        to[a][b][i] = slope[fft_at(&d->fft.values, i / (N * N), i / N % N, i % N)];
    }
  }
  fftw_free(modes);
  fftw_free(slope);
}

/** How far flows are from the equations. */
struct residual {
  double force; /* of J div (x'' + ...) = 3/2 (J - 1), with D as time: T(D^n) = n (n + 1/2) D^n */
  double rotation; /* of sum over a of grad x'_a x grad x_a = 0 (Cauchy's invariants) */
};

/** The same indices as of a cross product. */
static double cofactor(const double m[3][3], int a, int b) {
  const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
  return m[a1][b1] * m[a2][b2] - m[a1][b2] * m[a2][b1];
}

/** The largest residuals of all cells, of orders up to @p orders at the growth D. */
static struct residual residual_at(slopes *psi, int orders, double growth_factor) {
  struct residual r = {0};
  for (size_t i = 0; i < N * N * N; i++) {
    double x[3][3], velocity[3][3] = {{0}}, force[3][3] = {{0}}, determinant = 0.0, sum = 0.0;
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        x[a][b] = a == b;
        for (int n = 1; n <= orders; n++) {
          const double term = pow(growth_factor, n) * psi[n - 1][a][b][i];
          x[a][b] += term;
          velocity[a][b] += n * term;
          force[a][b] += n * (n + 0.5) * term;
        }
      }
    for (int b = 0; b < 3; b++) determinant += x[0][b] * cofactor(x, 0, b);
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) sum += cofactor(x, a, b) * force[a][b];
    r.force = fmax(r.force, fabs(sum - 1.5 * (determinant - 1.0)));
    for (int c = 0; c < 3; c++) {
      double curl = 0.0;
      for (int a = 0; a < 3; a++)
        curl += velocity[a][(c + 1) % 3] * x[a][(c + 2) % 3] -
                velocity[a][(c + 2) % 3] * x[a][(c + 1) % 3];
      r.rotation = fmax(r.rotation, fabs(curl));
    }
  }
  return r;
}

/* What is left of the equations is of the order above the highest one: at half the growth factor it is 1/16 of what
 * it was, without the third order 1/8, up to terms of higher orders still. Products of three waves of k <= 3 have
 * k <= 9, below the Nyquist frequency of 12. */
static void test_equations_of_motion(void **state) {
  (void)state;
  static const struct wave waves[] = {{{1, 0, 2}, 1.0, 0.4},  {{2, -1, 0}, 0.8, 1.0},
                                      {{0, 3, 1}, 0.9, 2.0},  {{1, 1, 1}, 0.7, 3.0},
                                      {{-2, 1, 2}, 0.6, 0.1}, {{1, -2, 1}, 0.5, 5.0}};
  struct displacement d = displace(waves, sizeof waves / sizeof *waves);
  slopes *psi = allocate(ORDERS, sizeof *psi, "slopes");
  for (int n = 0; n < ORDERS; n++) find_slopes(&d, (enum displacement_field)n, psi[n]);
  for (int orders = 2; orders <= ORDERS; orders++) {
    const struct residual early = residual_at(psi, orders, 0.002),
                          late = residual_at(psi, orders, 0.004);
    const double order = orders + 1;
    assert_near(log2(late.force / early.force), order, 0.05);
    assert_near(log2(late.rotation / early.rotation), order, 0.05);
    assert_true(late.force > 0.01 * pow(0.004, order)); /* far above rounding */
  }
  free(psi);
  displacement_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane_waves),
                                     cmocka_unit_test(test_equations_of_motion)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
