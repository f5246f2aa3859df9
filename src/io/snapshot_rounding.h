/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How values of lean snapshots are rounded: to multiples of a step that is a power of two. They stay plain
 * floats, which every reader takes, but their last bits are 0, and deflate finds that. */
#ifndef PHOTONS_SNAPSHOT_ROUNDING_H
#define PHOTONS_SNAPSHOT_ROUNDING_H

#include <math.h>
#include <stdbool.h>

#include "photons/config/parameters.h"
#include "photons/domain/particles.h"

/** Steps of rounded values, in the units of the file. */
struct rounding {
  double position, velocity; /**< 0: values are not rounded */
  bool wide; /**< positions have more steps than a float can count: they are doubles */
};

/**
 * The rounding that the parameters ask for.
 * @param a       scale factor; isolated systems: 1
 * @param length  the file's unit of length in 1 Mpc/h
 * @return position: at most twice output.position_error, or 1/128 of the shortest softening length;
 *         velocity: of v_pec/sqrt(a), at most twice output.velocity_error
 */
struct rounding rounding_of(const struct parameters *p, const struct particles *s, double a,
                            double length);

/* Where a sum counts in steps, its rounding is that to a multiple, and takes fewer instructions than rint(). */
#define ROUNDED_LARGE 0x1.8p52 /* steps that are added and taken away */
#define ROUNDED_SMALL 0x1p51   /* steps that a number must be below */

/** The multiple of a step that is nearest; 0 has no sign. */
static inline double rounded(double value, double step) {
  const double large = ROUNDED_LARGE * step;
  if (fabs(value) < ROUNDED_SMALL * step) return value + large - large;
  return rint(value / step) * step;
}

#endif
