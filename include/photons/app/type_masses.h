/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The matter of each type of particles, as a run tells it at its start. */
#ifndef PHOTONS_APP_TYPE_MASSES_H
#define PHOTONS_APP_TYPE_MASSES_H

#include <stdint.h>
#include <stdio.h>

#include "photons/config/parameters.h"
#include "photons/domain/particles.h"

struct type_masses {
  uint64_t count[PARTICLE_TYPES];
  double mass[PARTICLE_TYPES]; /**< their sum, 1e10 Msun/h, with the same bits on any ranks */
  /** Of one particle: the least and the largest mass; 0: there are no particles of the type. */
  double least[PARTICLE_TYPES], largest[PARTICLE_TYPES];
};

/** Of all ranks; zeros where no particles are in memory. Collective. */
struct type_masses type_masses_of(const struct particles *s);
/** A line with the types and what each has of all matter but massive neutrinos; where all particles are of
 * one type there is none. A sum that is off by more than 1 % is warned of. */
void type_masses_print(FILE *out, const struct parameters *p, const struct type_masses *m);
/** End the run, EXIT_BAD_USAGE, where the type of time.pair_type has no particle or more than steps of pairs
 * allow. */
void type_masses_require_holes(const struct parameters *p, const struct type_masses *m);

#endif
