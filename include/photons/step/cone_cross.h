/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crossings of a light cone within one drift. Between two kicks a particle's comoving position is
 * linear in the drift factor int dt/a^2, and the distance chi of the light cone from the observer
 * falls by c a for each unit of that factor. A particle crosses where the two are equal.
 *
 * Lengths are in position units (geometry.h), from the observer, with copies of the box beside each
 * other. They are whole numbers below 2^53 at the ends of drifts, so that doubles hold them exactly:
 * the end of a drift and the beginning of the next one give the same answer, and no particle is lost
 * or counted twice, whatever the steps, groups and copies are. */
#ifndef PHOTONS_STEP_CONE_CROSS_H
#define PHOTONS_STEP_CONE_CROSS_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/config/choices.h"

struct step_kernels;

/** What an observer sees. */
struct cone_view {
  enum cone_shape shape;
  double direction[3]; /**< octant: signs; pencil: unit vector of the axis */
  double opening;      /**< pencil: angle from the axis, rad */
  double reach;        /**< chi where the light cone begins */
};

/** The light cone during a drift. Index 0 is its beginning, 1 its end. */
struct cone_drift {
  double chi[2], chi_slope[2]; /**< distance, and its derivative by the part of the drift done */
  double a[2], a_slope[2];     /**< the same of the scale factor */
  float factor;                /**< of drift kernels: position units per unit of momentum */
};

/** Where a box is that contains a group's particles during a drift. */
struct cone_bounds {
  double centre[3], half[3];
};

/** The particles of a group, without copies of the box. */
struct cone_particles {
  uint32_t count;
  const uint32_t *position; /**< [3][count] at the beginning of the drift */
  const float *momentum;    /**< [3][count] */
  double way;               /**< no particle goes farther in the drift */
  uint32_t centre[3];       /**< no particle is L/2 or more from there along an axis */
  const uint64_t *id;       /**< [count], which crossings do not depend on, */
  const float *mass;        /**< column relative_mass; NULL: all are 1, */
  const uint8_t *type;      /**< and column type; NULL: all are PARTICLE_HALO */
};

enum { CONE_BLOCK = 128 };

/** Crossings of some particles. */
struct cone_crossings {
  uint32_t count;
  uint32_t index[CONE_BLOCK]; /**< of the particles */
  double x[3][CONE_BLOCK];    /**< where */
  double a[CONE_BLOCK];       /**< when */
};

/** Takes crossings, at least one, which it may change. */
typedef void cone_found(void *context, struct cone_crossings *crossings);

/** Whether a view includes a place. */
bool cone_sees(const struct cone_view *v, const double x[3]);

/** Whether particles in a box may cross the light cone in a drift, and be seen. */
bool cone_meets(const struct cone_view *v, const struct cone_drift *d, const struct cone_bounds *b);

/**
 * Find the crossings that are seen, of one copy of the box, in the order of the particles. They are the same, bit by
 * bit, with the kernels of any instruction set.
 * @param centre  of the particles, in this copy
 * @param found   is called until it has had all crossings
 */
void cone_cross(const struct step_kernels *kernels, const struct cone_view *v,
                const struct cone_drift *d, const struct cone_particles *p, const double centre[3],
                cone_found *found, void *context);

#endif
