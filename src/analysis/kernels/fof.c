/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends: candidates among a leaf's particles near a point or a box. These kernels
 * select in float with a margin; the caller decides with integers. */
#include <float.h>

#include "photons/analysis/kernels.h"
#include "photons/base/simd.h"
#include "photons/domain/geometry.h"

/** Those of up to LANES particles, from x, y and z on, that are nearer to a point than a squared distance. */
static inline vmask find_near(const uint32_t *x, const uint32_t *y, const uint32_t *z,
                              uint32_t count, const uint32_t point[3], vfloat limit2) {
  const vmask there = v_first(count);
  const vfloat dx = v_difference(x, point[0], there), dy = v_difference(y, point[1], there),
               dz = v_difference(z, point[2], there);
  return v_both(there, v_less(v_fma(dx, dx, v_fma(dy, dy, dz * dz)), limit2));
}

uint32_t KERNEL(fof_near_point)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                                const uint32_t point[3], float limit2, uint32_t *index) {
  /* "less" stands for "no more": coordinates are whole numbers. */
  const vfloat above = v_set(limit2 * (1.0F + FLT_EPSILON) + 0.5F);
  uint32_t found = 0;
  for (uint32_t first = 0; first < n; first += LANES) {
    const vmask near = find_near(x + first, y + first, z + first, n - first, point, above);
    found += v_list(near, first, index + found);
  }
  return found;
}

/** The half of a box's extent, rounded up. */
static inline vfloat half_of(uint32_t extent) {
  return v_set((0.5F * (float)extent + 2.0F) * (1.0F + 4.0F * FLT_EPSILON));
}

uint32_t KERNEL(fof_near_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                              const uint32_t low[3], const uint32_t extent[3], uint32_t *index) {
  const uint32_t *const from[3] = {x, y, z};
  uint32_t found = 0;
  for (uint32_t first = 0; first < n; first += LANES) {
    const vmask there = v_first(n - first);
    vmask near = there;
    for (int c = 0; c < 3; c++) {
      const vfloat apart = v_difference(from[c] + first, low[c] + extent[c] / 2, there);
      near = v_both(near, v_less(v_abs(apart), half_of(extent[c])));
    }
    found += v_list(near, first, index + found);
  }
  return found;
}

extern const struct fof_kernels KERNEL(fof_kernels);
const struct fof_kernels KERNEL(fof_kernels) = {KERNEL(fof_near_point), KERNEL(fof_near_box)};
