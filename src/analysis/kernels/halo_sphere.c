/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in spheres. Distances are numbers whose operations have the same rounding with all instruction sets. */
#include <math.h>

#include "photons/analysis/kernels.h"
#include "photons/domain/geometry.h"

enum { PIECE = 64 }; /* particles examined at a time */

static inline int piece(size_t left) { return left < PIECE ? (int)left : PIECE; }

static inline double square(uint32_t x, uint32_t centre) {
  const double d = (double)position_difference(x, centre);
  return d * d;
}

static inline float square_rounded(uint32_t x, uint32_t centre) {
  const float d = (float)position_difference(x, centre);
  return d * d;
}

float KERNEL(halo_farthest2)(size_t n, uint32_t *const position[3], const uint32_t centre[3]) {
  const uint32_t *x = position[0], *y = position[1], *z = position[2];
  float most = 0.0f;
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < n; i++) {
    const float distance2 = square_rounded(x[i], centre[0]) + square_rounded(y[i], centre[1]) +
                            square_rounded(z[i], centre[2]);
    most = distance2 > most ? distance2 : most;
  }
  return most;
}

size_t KERNEL(halo_stay_inside)(size_t n, uint32_t *const position[3], const uint32_t centre[3],
                                float radius2, int32_t *inside, int64_t sum[3]) {
  const uint32_t *x = position[0], *y = position[1], *z = position[2];
  int64_t sum_x = 0, sum_y = 0, sum_z = 0;
  uint32_t count = 0;
#pragma omp simd reduction(+ : count, sum_x, sum_y, sum_z)
  for (size_t i = 0; i < n; i++) {
    const float distance2 = square_rounded(x[i], centre[0]) + square_rounded(y[i], centre[1]) +
                            square_rounded(z[i], centre[2]);
    const int32_t flag = (distance2 <= radius2 ? -1 : 0) & inside[i];
    inside[i] = flag;
    count -= (uint32_t)flag;
    sum_x += (int32_t)x[i] & flag;
    sum_y += (int32_t)y[i] & flag;
    sum_z += (int32_t)z[i] & flag;
  }
  sum[0] = sum_x, sum[1] = sum_y, sum[2] = sum_z;
  return count;
}

size_t KERNEL(halo_keep)(size_t n, uint32_t *const position[3], int32_t *inside) {
  uint32_t *x = position[0], *y = position[1], *z = position[2];
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    x[kept] = x[i], y[kept] = y[i], z[kept] = z[i];
    kept += (size_t)-inside[i];
  }
  for (size_t i = 0; i < kept; i++) inside[i] = -1;
  return kept;
}

uint32_t KERNEL(halo_distances)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                                const uint32_t point[3], double limit2, double *distance) {
  uint32_t found = 0;
  for (uint32_t first = 0; first < n; first += PIECE) {
    const int count = piece(n - first);
    double here[PIECE], root[PIECE];
#pragma omp simd
    for (int i = 0; i < count; i++) {
      here[i] = square(x[first + (uint32_t)i], point[0]) +
                square(y[first + (uint32_t)i], point[1]) + square(z[first + (uint32_t)i], point[2]);
      root[i] = sqrt(here[i]);
    }
    for (int i = 0; i < count; i++) {
      distance[found] = root[i];
      found += here[i] <= limit2;
    }
  }
  return found;
}
