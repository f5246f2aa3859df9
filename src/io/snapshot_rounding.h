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

/** The multiple of a step that is nearest. */
static inline double rounded(double value, double step) {
  /* Where a sum counts in steps, its rounding is that to a multiple, and takes fewer instructions than rint(). */
  const double large = 0x1.8p52 * step;
  if (fabs(value) < 0x1p51 * step) return value + large - large + 0.0; /* 0 without a sign */
  return rint(value / step) * step;
}

#endif
