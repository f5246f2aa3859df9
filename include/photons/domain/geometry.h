/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Positions, differences of positions, boxes, and the units of length.
 *
 *   position unit   L / 2^32; a coordinate is a uint32_t whose overflow is the periodic wrap
 *   Mpc/h           used in parameters and files; the side of the box is L = geometry.box
 *   r_cut           the reach of the short-range force; node boxes, interaction lists, expansions
 *                   and direct sums count lengths in units of r_cut, where the cutoff is R_CUT
 *   mesh cell       L / N of the particle mesh (mesh.h)
 *
 * geometry.scale converts position units to units of r_cut. */
#ifndef PHOTONS_DOMAIN_GEOMETRY_H
#define PHOTONS_DOMAIN_GEOMETRY_H

#include <stdint.h>

#include "photons/base/host_device.h"

/** Number of position units in a side of the box. */
#define POSITION_TURN 4294967296.0
/** The cutoff r_cut of the short-range force, and its square, in units of r_cut. */
#define R_CUT 1.0f
#define R_CUT_SQUARED (R_CUT * R_CUT)

/* In isolated systems L is the side of a cubic frame, and its middle is the origin of coordinates.
 * All particles are less than L/4 from the middle along each axis, so that nearest images are the
 * particles themselves. There r_cut = L: nothing is out of reach. L is a power of two in Mpc, and
 * doubles when a particle comes near the limit (domain_double_frame()). */
#define FRAME_MIDDLE (UINT32_C(1) << 31)
struct geometry {
  double box;   /**< L, Mpc/h */
  double r_cut; /**< Mpc/h */
  float scale;  /**< units of r_cut per position unit: L / 2^32 / r_cut */
};

static inline struct geometry geometry_make(double box, double r_cut) {
  return (struct geometry){box, r_cut, (float)(box / POSITION_TURN / r_cut)};
}

/** a - b along one axis for the nearest images: in [-L/2, L/2), position units. */
static HOST_DEVICE inline int32_t position_difference(uint32_t a, uint32_t b) {
  return (int32_t)(a - b);
}

/** A coordinate in Mpc/h (any real number, wrapped into the box), rounded to a position unit. */
static inline uint32_t position_to_integer(double x, double box) {
  double turns = x / box;
  turns -= __builtin_floor(turns);
  return (uint32_t)(int64_t)(turns * POSITION_TURN + 0.5); /* 2^32 wraps to 0 */
}
/** The same place in a frame of twice the side about the same middle, in its position units; halves
 * are rounded to even. */
static inline uint32_t position_in_doubled_frame(uint32_t u) {
  return (uint32_t)(((uint64_t)u + (u >> 1 & 1)) >> 1) + FRAME_MIDDLE / 2;
}
/** The coordinate of a position in Mpc/h, in [0, box). */
static inline double position_from_integer(uint32_t u, double box) {
  return u * (box / POSITION_TURN);
}

#endif
