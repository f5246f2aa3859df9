/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends: candidates among a leaf's particles near a point or a box. These kernels
 * select in float with a margin; the caller decides with integers. */
#include <float.h>
#include <string.h>

#include "photons/analysis/kernels.h"
#include "photons/base/simd.h"
#include "photons/domain/geometry.h"

enum { PIECE = 64 }; /* particles examined at a time */

static inline uint32_t piece(uint32_t left) { return left < PIECE ? left : PIECE; }

/** List the indices of nonzero flags, 8 flags at a time. @return their number */
static uint32_t collect(uint32_t n, const uint8_t *flag, uint32_t *index) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < n; i += 8) {
    uint64_t eight;
    __builtin_memcpy(&eight, flag + i, 8);
    for (; eight; eight &= eight - 1) index[found++] = i + (uint32_t)__builtin_ctzll(eight) / 8;
  }
  return found;
}

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
  uint32_t found = 0, lane[LANES];
  for (uint32_t first = 0; first < n; first += LANES) {
    const vmask near = find_near(x + first, y + first, z + first, n - first, point, above);
    if (!v_any(near)) continue;
    const vint order = v_order(near);
    const uint32_t more = v_count(near);
    memcpy(lane, &order, sizeof lane);
    for (uint32_t k = 0; k < more; k++) index[found++] = first + lane[k];
  }
  return found;
}

uint32_t KERNEL(fof_near_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                              const uint32_t low[3], const uint32_t extent[3], uint32_t *index) {
  uint32_t found = 0;
  for (uint32_t first = 0; first < n; first += PIECE) {
    uint8_t flag[PIECE] = {0};
    const uint32_t count = piece(n - first);
    for (uint32_t i = 0; i < count; i++)
      flag[i] = (x[first + i] - low[0] <= extent[0]) & (y[first + i] - low[1] <= extent[1]) &
                (z[first + i] - low[2] <= extent[2]);
    const uint32_t more = collect(count, flag, index + found);
    for (uint32_t i = 0; i < more; i++) index[found + i] += first;
    found += more;
  }
  return found;
}

extern const struct fof_kernels KERNEL(fof_kernels);
const struct fof_kernels KERNEL(fof_kernels) = {KERNEL(fof_near_point), KERNEL(fof_near_box)};
