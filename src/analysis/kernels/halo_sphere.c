/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles in spheres. Those inside are collected without branches. Distances are numbers whose operations have the same
 * rounding with all instruction sets. */
#include "photons/analysis/kernels.h"
#include "photons/domain/geometry.h"

enum { PIECE = 64 }; /* particles examined at a time */

static inline int piece(size_t left) { return left < PIECE ? (int)left : PIECE; }

static inline double square(uint32_t x, uint32_t centre) {
  const double d = (double)position_difference(x, centre);
  return d * d;
}

size_t KERNEL(halo_keep_inside)(size_t n, uint32_t *const position[3], const uint32_t centre[3],
                                double radius2, int64_t sum[3]) {
  uint32_t *x = position[0], *y = position[1], *z = position[2];
  int64_t sum_x = 0, sum_y = 0, sum_z = 0;
  size_t inside = 0;
  for (size_t first = 0; first < n; first += PIECE) {
    const int count = piece(n - first);
    int32_t flag[PIECE];
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z)
    for (int i = 0; i < count; i++) {
      const size_t at = first + (size_t)i;
      const double distance2 = square(x[at], centre[0]) + square(y[at], centre[1]) +
                               square(z[at], centre[2]);
      flag[i] = distance2 <= radius2 ? -1 : 0;
      sum_x += (int32_t)x[at] & flag[i];
      sum_y += (int32_t)y[at] & flag[i];
      sum_z += (int32_t)z[at] & flag[i];
    }
    for (int i = 0; i < count; i++) {
      const size_t at = first + (size_t)i;
      x[inside] = x[at], y[inside] = y[at], z[inside] = z[at];
      inside += (size_t)-flag[i];
    }
  }
  sum[0] = sum_x, sum[1] = sum_y, sum[2] = sum_z;
  return inside;
}

uint32_t KERNEL(halo_distances)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                                const uint32_t point[3], double limit2, double *distance2) {
  uint32_t found = 0;
  for (uint32_t first = 0; first < n; first += PIECE) {
    const int count = piece(n - first);
    double here[PIECE];
#pragma omp simd
    for (int i = 0; i < count; i++)
      here[i] = square(x[first + (uint32_t)i], point[0]) +
                square(y[first + (uint32_t)i], point[1]) + square(z[first + (uint32_t)i], point[2]);
    for (int i = 0; i < count; i++) {
      distance2[found] = here[i];
      found += here[i] <= limit2;
    }
  }
  return found;
}
