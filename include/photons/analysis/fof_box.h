/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Periodic boxes and distances of friends of friends, in position units. All are exact. */
#ifndef PHOTONS_FOF_BOX_H
#define PHOTONS_FOF_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/base/host_device.h"
#include "photons/domain/geometry.h"

/** A periodic box around particles: [low, low + extent] along each axis, possibly across the
 * edge. */
struct fof_box {
  uint32_t low[3], extent[3];
};

/** Squared distance of two points, nearest images. */
static HOST_DEVICE inline uint64_t distance2(uint32_t x0, uint32_t y0, uint32_t z0, uint32_t x1,
                                             uint32_t y1, uint32_t z1) {
  const int64_t x = position_difference(x0, x1), y = position_difference(y0, y1),
                z = position_difference(z0, z1);
  return (uint64_t)(x * x) + (uint64_t)(y * y) + (uint64_t)(z * z);
}

/** Gap between two periodic intervals: from the end of each to the beginning of the other, the
 * shorter of the two. */
static HOST_DEVICE inline uint32_t fof_gap(uint32_t low_a, uint32_t extent_a, uint32_t low_b,
                                           uint32_t extent_b) {
  const uint32_t to_b = low_b - low_a, to_a = low_a - low_b,
                 gap_b = to_b > extent_a ? to_b - extent_a : 0, /* without branches */
      gap_a = to_a > extent_b ? to_a - extent_b : 0;
  return gap_b < gap_a ? gap_b : gap_a;
}

/** Squared distance of two boxes, 0 where they touch. */
static HOST_DEVICE inline uint64_t fof_boxes_distance2(const struct fof_box *a,
                                                       const struct fof_box *b) {
  uint64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    uint64_t d = fof_gap(a->low[c], a->extent[c], b->low[c], b->extent[c]);
    sum += d * d; /* d < 2^31 */
  }
  return sum;
}

/** The shorter of the two periodic boxes that begin at the low corner of one of the boxes and cover
 * both. */
static HOST_DEVICE inline struct fof_box fof_box_union(const struct fof_box *a,
                                                       const struct fof_box *b) {
  struct fof_box box;
  for (int c = 0; c < 3; c++) {
    uint64_t from_a = (uint64_t)(uint32_t)(b->low[c] - a->low[c]) + b->extent[c];
    uint64_t from_b = (uint64_t)(uint32_t)(a->low[c] - b->low[c]) + a->extent[c];
    from_a = from_a > a->extent[c] ? from_a : a->extent[c];
    from_b = from_b > b->extent[c] ? from_b : b->extent[c];
    uint64_t extent = from_a < from_b ? from_a : from_b;
    box.low[c] = extent > UINT32_MAX ? 0 : from_a < from_b ? a->low[c] : b->low[c];
    box.extent[c] = extent > UINT32_MAX ? UINT32_MAX : (uint32_t)extent;
  }
  return box;
}

/** Are any two points of the box within a distance of each other? The distance is shorter than half
 * the side of the box of the run. */
static HOST_DEVICE inline bool fof_box_is_small(const struct fof_box *box, uint64_t length2) {
  uint64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    if (box->extent[c] > INT32_MAX) return false;
    sum += (uint64_t)box->extent[c] * box->extent[c];
  }
  return sum <= length2;
}

/** A box that consists of one point. */
static HOST_DEVICE inline struct fof_box fof_point_box(uint32_t x, uint32_t y, uint32_t z) {
  struct fof_box box = {{x, y, z}, {0, 0, 0}};
  return box;
}

#endif
