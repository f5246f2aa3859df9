/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ic_lattice_growth.h"

#include <math.h>
#include <stdint.h>

#include "ic_displacement.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

/* Wave vectors x are in units of 2 pi over the spacing: the Nyquist frequency is 1/2 along an axis. */
enum { CELLS = 32, POINTS = CELLS + 1, COMPONENTS = 6 };

/** Beyond this distance, squared, all terms of the sums are below 1e-9. */
enum { REACH = 3, REACH2 = 14 };

/** Steps of the power iteration for the eigenvector: in all directions it begins near it. */
enum { ITERATIONS = 24 };

struct lattice_growth {
  /** The pull less the fluid's, which is smooth, at points of 0 <= x_c <= 1/2: xx, yy, zz, xy, zx, yz. */
  double pull[POINTS][POINTS][POINTS][COMPONENTS];
};

static size_t component(size_t a, size_t b) { return a == b ? a : a + b + 2; }

static void add_product(double *matrix, double factor, const double v[3]) {
  for (size_t a = 0; a < 3; a++)
    for (size_t b = a; b < 3; b++) matrix[component(a, b)] += factor * v[a] * v[b];
}

/** The part of an Ewald sum in wave vectors: that of x itself less the fluid's, and those of the lattice's harmonics,
 * less what they are where x = 0. With this split both parts fall as exp(-pi distance^2). */
static void add_harmonic(double *matrix, const double x[3], const double harmonic[3]) {
  double v[3], square = 0.0, square0 = 0.0;
  for (int c = 0; c < 3; c++) {
    v[c] = x[c] + harmonic[c];
    square += v[c] * v[c];
    square0 += harmonic[c] * harmonic[c];
  }
  if (square0 > 0.0) {
    add_product(matrix, exp(-M_PI * square) / square, v);
    add_product(matrix, -exp(-M_PI * square0) / square0, harmonic);
  } else if (square > 0.0) {
    add_product(matrix, expm1(-M_PI * square) / square, v);
  }
}

/** The part in particles: (1 - cos(2 pi x r)) times the second derivatives of erfc(sqrt(pi) r)/r, over 4 pi. */
static void add_particle(double *matrix, const double x[3], const double r[3]) {
  double square = 0.0, phase = 0.0;
  for (int c = 0; c < 3; c++) {
    square += r[c] * r[c];
    phase += 2.0 * M_PI * x[c] * r[c];
  }
  if (square == 0.0) return;
  const double distance = sqrt(square), gauss = 2.0 * exp(-M_PI * square),
               first = erfc(sqrt(M_PI) * distance) / distance + gauss, /* minus r d/dr */
      weight = (1.0 - cos(phase)) / (4.0 * M_PI * square);
  add_product(matrix, weight * (3.0 * first / square + 2.0 * M_PI * gauss), r);
  for (size_t c = 0; c < 3; c++) matrix[c] -= weight * first;
}

static void find_pull(double *matrix, const double x[3]) {
  for (int i = -REACH; i <= REACH; i++)
    for (int j = -REACH; j <= REACH; j++)
      for (int k = -REACH; k <= REACH; k++) {
        if (i * i + j * j + k * k > REACH2) continue;
        const double place[3] = {i, j, k};
        add_harmonic(matrix, x, place);
        add_particle(matrix, x, place);
      }
}

static void pull_plane(void *context, uint32_t i) {
  struct lattice_growth *l = context;
  for (int j = 0; j < POINTS; j++)
    for (int k = 0; k < POINTS; k++) {
      const double x[3] = {0.5 * i / CELLS, 0.5 * j / CELLS, 0.5 * k / CELLS};
      find_pull(l->pull[i][j][k], x);
    }
}

struct lattice_growth *lattice_growth_create(void) {
  struct lattice_growth *l = allocate(1, sizeof *l, "the growth of waves on a grid");
  loop_run(&initial_conditions_stage, POINTS, pull_plane, l);
  return l;
}

/** Interpolate between points; the sign of products of components is that of q. */
static void read_pull(const struct lattice_growth *l, const double q[3], double side,
                      double matrix[3][3]) {
  int index[3];
  double part[3], sum[COMPONENTS] = {0};
  for (int c = 0; c < 3; c++) {
    const double x = fmin(2.0 * CELLS * fabs(q[c]) / side, CELLS);
    index[c] = x < CELLS ? (int)x : CELLS - 1;
    part[c] = x - index[c];
  }
  for (int corner = 0; corner < 8; corner++) {
    const int at[3] = {corner >> 2, corner >> 1 & 1, corner & 1};
    double weight = 1.0;
    for (int c = 0; c < 3; c++) weight *= at[c] ? part[c] : 1.0 - part[c];
    const double *point = l->pull[index[0] + at[0]][index[1] + at[1]][index[2] + at[2]];
    for (int m = 0; m < COMPONENTS; m++) sum[m] += weight * point[m];
  }
  for (size_t a = 0; a < 3; a++)
    for (size_t b = 0; b < 3; b++)
      matrix[a][b] = (q[a] * q[b] < 0.0 ? -1.0 : 1.0) * sum[component(a, b)];
}

struct lattice_wave lattice_growth_of(const struct lattice_growth *l, const double q[3],
                                      double side) {
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
  struct lattice_wave wave = {.direction = {q[0], q[1], q[2]}};
  double matrix[3][3];
  read_pull(l, q, side, matrix);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) matrix[a][b] += q[a] * q[b] / square;
  for (int i = 0; i < ITERATIONS; i++) {
    double next[3] = {0}, along = 0.0;
    for (int a = 0; a < 3; a++) {
      for (int b = 0; b < 3; b++) next[a] += matrix[a][b] * wave.direction[b];
      along += next[a] * q[a];
    }
    wave.eigenvalue = along / square; /* the direction had the component 1 along q */
    for (int a = 0; a < 3; a++) wave.direction[a] = next[a] * square / along;
  }
  wave.rate = 0.25 * (sqrt(1.0 + 24.0 * wave.eigenvalue) - 1.0);
  return wave;
}
