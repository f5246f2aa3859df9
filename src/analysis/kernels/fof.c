/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends: candidates among a leaf's particles near a point or a box. These kernels
 * select in float with a margin; the caller decides with integers. */
#include "photons/analysis/kernels.h"
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

uint32_t KERNEL(fof_near_point)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                                const uint32_t point[3], float limit2, uint32_t *index) {
  uint32_t found = 0;
  for (uint32_t first = 0; first < n; first += PIECE) {
    uint8_t flag[PIECE] = {0};
    const uint32_t count = piece(n - first);
    for (uint32_t i = 0; i < count; i++) {
      const float dx = (float)position_difference(x[first + i], point[0]),
                  dy = (float)position_difference(y[first + i], point[1]),
                  dz = (float)position_difference(z[first + i], point[2]);
      flag[i] = dx * dx + dy * dy + dz * dz <= limit2;
    }
    const uint32_t more = collect(count, flag, index + found);
    for (uint32_t i = 0; i < more; i++) index[found + i] += first;
    found += more;
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
