/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends: candidates among a leaf's particles near a point or a box. These kernels
 * select in float with a margin; the caller decides with integers. */
#include <float.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "photons/base/simd.h"
#include "photons/domain/geometry.h"

/** LANES differences of coordinates. */
typedef int32_t vwhole __attribute__((vector_size(4 * LANES)));
typedef uint32_t vunits __attribute__((vector_size(4 * LANES)));

static inline vwhole difference(uint32_t from, const uint32_t *x) {
  vunits there;
  memcpy(&there, x, sizeof there);
  return (vwhole)(from - there);
}

static inline vfloat difference_rounded(uint32_t from, const uint32_t *x) {
  return (vfloat) __builtin_convertvector(difference(from, x), vfloat);
}

/** Coordinates of particles, and of a point in all lanes. */
struct near {
  const uint32_t *x[3];
  vunits point[3];
  vfloat limit2;
};

static inline vfloat to_point(const struct near *c, int axis, uint32_t first) {
  vunits there;
  memcpy(&there, c->x[axis] + first, sizeof there);
  return (vfloat) __builtin_convertvector((vwhole)(c->point[axis] - there), vfloat);
}

/** Those of LANES particles that are nearer to the point than the limit. */
static inline vmask find_near(const struct near *c, uint32_t first) {
  const vfloat dx = to_point(c, 0, first), dy = to_point(c, 1, first), dz = to_point(c, 2, first);
  return v_less(v_fma(dx, dx, v_fma(dy, dy, dz * dz)), c->limit2);
}

uint32_t KERNEL(fof_near_point)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                                const uint32_t point[3], float limit2, uint32_t *index) {
  /* "less" stands for "no more": coordinates are whole numbers. */
  const struct near c = {{x, y, z},
                         {(vunits){0} + point[0], (vunits){0} + point[1], (vunits){0} + point[2]},
                         v_set(limit2 * (1.0F + FLT_EPSILON) + 0.5F)};
  uint32_t found = 0, first = 0;
  for (; first + LANES <= n; first += LANES) {
    const vmask near = find_near(&c, first);
    if (v_any(near)) found += v_list(near, first, index + found); /* mostly none is near */
  }
  if (first == n) return found;
  const vmask near = v_both(find_near(&c, first), v_first(n - first));
  return v_any(near) ? found + v_list(near, first, index + found) : found;
}

/** The half of a box's extent, rounded up. */
static inline vfloat half_of(uint32_t extent) {
  return v_set((0.5F * (float)extent + 2.0F) * (1.0F + 4.0F * FLT_EPSILON));
}

uint32_t KERNEL(fof_near_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                              const uint32_t low[3], const uint32_t extent[3], uint32_t *index) {
  const uint32_t *const from[3] = {x, y, z};
  uint32_t middle[3], found = 0, first = 0;
  vfloat half[3];
  for (int c = 0; c < 3; c++) {
    middle[c] = low[c] + extent[c] / 2;
    half[c] = half_of(extent[c]);
  }
  for (; first + LANES <= n; first += LANES) {
    vmask near = v_less(v_abs(difference_rounded(middle[0], x + first)), half[0]);
    near = v_both(near, v_less(v_abs(difference_rounded(middle[1], y + first)), half[1]));
    near = v_both(near, v_less(v_abs(difference_rounded(middle[2], z + first)), half[2]));
    if (v_any(near)) found += v_list(near, first, index + found);
  }
  if (first == n) return found;
  const vmask there = v_first(n - first);
  vmask near = there;
  for (int c = 0; c < 3; c++)
    near = v_both(near, v_less(v_abs(v_difference(from[c] + first, middle[c], there)), half[c]));
  return found + v_list(near, first, index + found);
}

/** The least and the largest of n differences from the first coordinate. */
static inline void measure_axis(uint32_t n, const uint32_t *x, int32_t *low, int32_t *high) {
  int32_t each[2][LANES];
  *low = *high = 0;
  if (n < LANES) {
    for (uint32_t i = 1; i < n; i++) {
      const int32_t d = position_difference(x[i], x[0]);
      *low = d < *low ? d : *low;
      *high = d > *high ? d : *high;
    }
    return;
  }
  vint least = v_none(), most = v_none();
  for (uint32_t first = 0; first < n; first += LANES) { /* the last ones may be looked at twice */
    const uint32_t *there = x + (first + LANES <= n ? first : n - LANES);
    const vint apart = (vint) - (vunits)difference(x[0], there);
    least = v_lower(least, apart);
    most = v_higher(most, apart);
  }
  memcpy(each[0], &least, sizeof least);
  memcpy(each[1], &most, sizeof most);
  for (int k = 0; k < LANES; k++) {
    *low = each[0][k] < *low ? each[0][k] : *low;
    *high = each[1][k] > *high ? each[1][k] : *high;
  }
}

void KERNEL(fof_measure_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                             uint32_t low[3], uint32_t extent[3]) {
  const uint32_t *const from[3] = {x, y, z};
  for (int c = 0; c < 3; c++) {
    int32_t least, most;
    measure_axis(n, from[c], &least, &most);
    low[c] = from[c][0] + (uint32_t)least;
    extent[c] = (uint32_t)((int64_t)most - least);
  }
}

extern const struct fof_kernels KERNEL(fof_kernels);
const struct fof_kernels KERNEL(fof_kernels) = {KERNEL(fof_near_point), KERNEL(fof_near_box),
                                                KERNEL(fof_measure_box)};
