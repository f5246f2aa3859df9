/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All cells of a group get the same acceleration. A file that includes this header defines REAL as float or
 * double first. */
#ifndef PHOTONS_HYDRO_KERNELS_ACCELERATE_H
#define PHOTONS_HYDRO_KERNELS_ACCELERATE_H

#include "real.h"

static void accelerate(const double change[3], void *group) {
  enum { NEXT = GAS_GROUP_CELLS }; /* variable */
  const real *density = group;
  real *energy = (real *)group + GAS_ENERGY * NEXT;
  for (unsigned a = 0; a < 3; a++) {
    real *momentum = (real *)group + (GAS_MOMENTUM_X + a) * NEXT;
    const real by = (real)change[a];
#pragma omp simd
    for (int i = 0; i < GAS_GROUP_CELLS; i++) {
      energy[i] += by * (momentum[i] + (real)0.5 * density[i] * by);
      momentum[i] += density[i] * by;
    }
  }
}

#endif
