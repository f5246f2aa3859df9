/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rungs of block time steps, and the kick of particles by rungs. A base step is divided into 2^RUNG_MOST
 * ticks, equal in ln a. A particle of rung k takes steps of 2^(RUNG_MOST - k) ticks, which begin at
 * multiples of their length. Particles whose own step ends at a tick are active there. */
#ifndef PHOTONS_STEP_RUNGS_H
#define PHOTONS_STEP_RUNGS_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/base/host_device.h"

enum { RUNG_MOST = 20, RUNGS = RUNG_MOST + 1 };

/** Ticks of a step of a rung. */
static HOST_DEVICE inline uint32_t rung_ticks(unsigned rung) { return 1u << (RUNG_MOST - rung); }

/** A kick of active particles, which closes their own step and opens the next one:
 *   p += short close[rung] + mesh mesh_factor;  a new rung;  p += short open[new rung]
 * Factors are integrals of dt/a, (Mpc/h)/(km/s); 0 where there is nothing to close or to open. */
struct rung_kick {
  float close[RUNGS]; /**< over the second half of the step that ends */
  float open[RUNGS];  /**< over the first half of the step that begins */
  float mesh;         /**< over half of the base step, at its ends */
  float limit[RUNGS]; /**< largest |acceleration|^2 for which the rung's step is short enough */
  uint8_t top;        /**< coarsest rung whose steps may begin here */
  uint8_t deepest;    /**< deepest rung that may be chosen */
  bool choose;        /**< choose new rungs; otherwise they stay */
  bool any;           /**< any rung may be chosen; otherwise at most one coarser than before */
  bool total;         /**< the acceleration given includes the mesh's; otherwise it is the short-range
                       *   part alone, and the column of accelerations gets the sum */
};

/** Arrays of a kick by rungs. Component c of a column stands at column + c * count. */
struct rung_arrays {
  uint32_t count;         /**< particles of the group */
  uint32_t active;        /**< particles to be kicked */
  const uint32_t *index;  /**< [active] where they stand in the group; NULL: all of it */
  const float *packed;    /**< [3][active] their short-range accelerations; NULL: the column holds what
                           *   struct rung_kick says */
  const float *mesh;      /**< column mesh_acceleration */
  float *acceleration, *momentum; /**< columns */
  uint8_t *rung;
};

/** The rung that a particle takes next.
 * @param acceleration2  its |acceleration|^2 */
static HOST_DEVICE inline uint8_t next_rung(const struct rung_kick *k, uint8_t rung,
                                            float acceleration2) {
  uint8_t wanted = k->top;
  while (wanted < k->deepest && acceleration2 > k->limit[wanted]) wanted++;
  return !k->any && rung > 0 && wanted < rung - 1 ? (uint8_t)(rung - 1) : wanted;
}

#endif
