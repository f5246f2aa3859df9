/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which clouds surely do not reach into a neighbour of their particle's group. A group gets densities from the particles
 * of 27 groups, most of which have nothing in it: one product tells that, where the place of a cloud takes three
 * quotients. */
#ifndef PHOTONS_PM_CLOUD_REACH_H
#define PHOTONS_PM_CLOUD_REACH_H

#include <stdbool.h>

#include "photons/amr/cells.h"
#include "photons/base/host_device.h"

/** The particles of a group, seen from a neighbour or from the group. */
struct cloud_reach {
  double cells;     /**< of the level in a unit of length */
  double corner[3]; /**< the group's lowest one, in cells */
  int direction[3]; /**< of the group from the neighbour: -1, 0 or 1 */
};

/** @param cell  side of a cell @param place  of the group of the particles, struct gas_group */
static HOST_DEVICE inline struct cloud_reach cloud_reach_of(double cell, const int place[3],
                                                            const int direction[3]) {
  struct cloud_reach r;
  r.cells = 1.0 / cell;
  for (int c = 0; c < 3; c++) {
    r.corner[c] = GAS_GROUP_SIDE * (double)place[c];
    r.direction[c] = direction[c];
  }
  return r;
}

/** Whether the cloud at a position surely has nothing in the neighbour. A cloud reaches half a cell beyond its position. A
 * tenth of a cell is for rounding. Particles that have left their group by more than seven cells may have come out of
 * a periodic box on its other side: nothing is sure of these. */
static HOST_DEVICE inline bool cloud_is_away(const struct cloud_reach *r,
                                             const double position[3]) {
  for (int c = 0; c < 3; c++) {
    if (r->direction[c] == 0) continue;
    const double at = position[c] * r->cells - r->corner[c];
    const double low = r->direction[c] > 0 ? 0.6 : -7.0,
                 high = r->direction[c] > 0 ? GAS_GROUP_SIDE + 7.0 : GAS_GROUP_SIDE - 0.6;
    if (at > low && at < high) return true;
  }
  return false;
}

#endif
