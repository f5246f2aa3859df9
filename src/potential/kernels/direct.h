/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact potential of a group whose ghost cells are given: sine transforms along x and y, and
 * elimination along z (Hockney 1965, J. ACM 12, 95). */
#ifndef PHOTONS_POTENTIAL_KERNELS_DIRECT_H
#define PHOTONS_POTENTIAL_KERNELS_DIRECT_H

#include <string.h>

#include "photons/potential/poisson.h"

/* The functions are inlined: how vectors would be passed to them does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

enum { GROUP_PLANE = GAS_GROUP_SIDE * GAS_GROUP_SIDE };

/* Half a row of a group. */
typedef double half_row __attribute__((vector_size(64), aligned(8), may_alias));
/* A plane [y][x]; or waves [y][x] of it, the eight symmetric ones along each axis first. */
typedef half_row plane[GAS_GROUP_SIDE][2];

#define INLINE static inline __attribute__((always_inline))

enum { FIRST = POISSON_HALF_WAVES, LAST = GAS_GROUP_SIDE - 1 };

/* Along y: symmetric waves are products of the sums of cells i and 15 - i, antisymmetric ones those
 * of the differences. */
INLINE void waves_along_y(const struct poisson_waves *w, plane p) {
  for (int x = 0; x < 2; x++) {
    half_row sum[FIRST], difference[FIRST];
    for (int i = 0; i < FIRST; i++) {
      sum[i] = p[i][x] + p[LAST - i][x];
      difference[i] = p[i][x] - p[LAST - i][x];
    }
    for (int k = 0; k < FIRST; k++) {
      half_row even = {0}, odd = {0};
      for (int i = 0; i < FIRST; i++) {
        even += w->symmetric[i][k] * sum[i];
        odd += w->antisymmetric[i][k] * difference[i];
      }
      p[k][x] = even;
      p[FIRST + k][x] = odd;
    }
  }
}

INLINE void cells_along_y(const struct poisson_waves *w, plane p) {
  for (int x = 0; x < 2; x++) {
    half_row even[FIRST], odd[FIRST];
    for (int k = 0; k < FIRST; k++) {
      even[k] = p[k][x];
      odd[k] = p[FIRST + k][x];
    }
    for (int i = 0; i < FIRST; i++) {
      half_row sum = {0}, difference = {0};
      for (int k = 0; k < FIRST; k++) {
        sum += w->symmetric[i][k] * even[k];
        difference += w->antisymmetric[i][k] * odd[k];
      }
      p[i][x] = sum + difference;
      p[LAST - i][x] = sum - difference;
    }
  }
}

INLINE half_row reversed(half_row a) {
  return __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0);
}

INLINE half_row load(const double *from) {
  half_row a;
  memcpy(&a, from, sizeof a);
  return a;
}

/* sum of a[i] * matrix[i] */
INLINE half_row product(half_row a, const double matrix[FIRST][FIRST]) {
  half_row sum = {0};
  for (int i = 0; i < FIRST; i++) sum += a[i] * load(matrix[i]);
  return sum;
}

INLINE void waves_along_x(const struct poisson_waves *w, plane p) {
  for (int y = 0; y < GAS_GROUP_SIDE; y++) {
    const half_row low = p[y][0], high = reversed(p[y][1]);
    p[y][0] = product(low + high, w->symmetric);
    p[y][1] = product(low - high, w->antisymmetric);
  }
}

INLINE void cells_along_x(const struct poisson_waves *w, plane p) {
  for (int y = 0; y < GAS_GROUP_SIDE; y++) {
    const half_row even = product(p[y][0], w->symmetric_back);
    const half_row odd = product(p[y][1], w->antisymmetric_back);
    p[y][0] = even + odd;
    p[y][1] = reversed(even - odd);
  }
}

/* A plane of the source, less the ghost cells beside its cells. */
INLINE void load_plane(const double *source, const double *block, int z, plane p) {
  const double *below = block + (z * POISSON_SIDE + 1) * POISSON_SIDE + 1;
  const double *middle = below + POISSON_SIDE * POISSON_SIDE;
  const double *above = middle + POISSON_SIDE * POISSON_SIDE;
  for (int y = 0; y < GAS_GROUP_SIDE; y++)
    for (int x = 0; x < 2; x++) {
      const int at = y * POISSON_SIDE + FIRST * x;
      p[y][x] = load(source + z * GROUP_PLANE + y * GAS_GROUP_SIDE + FIRST * x);
      if (z == 0) p[y][x] -= load(below + at);
      if (z == LAST) p[y][x] -= load(above + at);
      if (y == 0) p[y][x] -= load(middle + at - POISSON_SIDE);
      if (y == LAST) p[y][x] -= load(middle + at + POISSON_SIDE);
    }
  for (int y = 0; y < GAS_GROUP_SIDE; y++) {
    p[y][0][0] -= middle[y * POISSON_SIDE - 1];
    p[y][1][FIRST - 1] -= middle[y * POISSON_SIDE + GAS_GROUP_SIDE];
  }
}

/* Along z: (wave of the plane below) + 1/pivot's own part + (wave above) = source. */
INLINE void eliminate(const struct poisson_waves *w, double *waves) {
  for (int i = 0; i < GROUP_PLANE; i++) waves[i] *= w->pivot[i];
  for (int z = 1; z < GAS_GROUP_SIDE; z++) {
    const double *pivot = w->pivot + z * GROUP_PLANE;
    double *here = waves + z * GROUP_PLANE;
#pragma omp simd
    for (int i = 0; i < GROUP_PLANE; i++) here[i] = pivot[i] * (here[i] - here[i - GROUP_PLANE]);
  }
}

INLINE void substitute(const struct poisson_waves *w, int z, double *waves) {
  const double *pivot = w->pivot + z * GROUP_PLANE;
  double *here = waves + z * GROUP_PLANE;
#pragma omp simd
  for (int i = 0; i < GROUP_PLANE; i++) here[i] -= pivot[i] * here[i + GROUP_PLANE];
}

static void solve_directly(const struct poisson_waves *w, const double *source, const double *block,
                           double *cube) {
  double waves[GAS_GROUP_CELLS] __attribute__((aligned(64)));
  for (int z = 0; z < GAS_GROUP_SIDE; z++) {
    half_row(*p)[2] = (void *)(waves + z * GROUP_PLANE);
    load_plane(source, block, z, p);
    waves_along_x(w, p);
    waves_along_y(w, p);
  }
  eliminate(w, waves);
  for (int z = LAST; z >= 0; z--) {
    if (z < LAST) substitute(w, z, waves);
    half_row(*p)[2] = (void *)(cube + z * GROUP_PLANE);
    memcpy(p, waves + z * GROUP_PLANE, GROUP_PLANE * sizeof *waves);
    cells_along_y(w, p);
    cells_along_x(w, p);
  }
}

#endif
