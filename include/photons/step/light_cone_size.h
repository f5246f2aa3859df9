/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large the light cone of a run will be, from its parameters alone. */
#ifndef PHOTONS_STEP_LIGHT_CONE_SIZE_H
#define PHOTONS_STEP_LIGHT_CONE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/config/parameters.h"
#include "photons/domain/particles.h"

struct light_cone_size {
  double reach;          /**< comoving distance where it begins, Mpc/h */
  uint64_t copies;       /**< of the box that it needs */
  double particles;      /**< that cross it, at the mean density */
  double particle_bytes; /**< of their files; 0: there are none */
  int64_t maps;
  double map_bytes; /**< of their files */
  double memory; /**< at most, of all ranks: crossings of the longest step, and open maps, bytes */
};

/** Whether files of a step may be written beside the next step: the memory suffices. */
bool light_cone_beside(const struct parameters *p);
/** @param particles, columns  of the run @return all 0 without a light cone */
struct light_cone_size light_cone_size(const struct parameters *p, size_t particles,
                                       column_set columns);

#endif
