/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Laplacian of a block of potentials. */
#ifndef PHOTONS_CUDA_POTENTIAL_LAPLACIAN_CUH
#define PHOTONS_CUDA_POTENTIAL_LAPLACIAN_CUH

#include "cuda/potential/density.cuh"

enum {
  INNER = GAS_GROUP_SIDE,
  HALF = POISSON_HALF_WAVES,
  SIDE = POISSON_SIDE,
  PLANE = SIDE * SIDE,
  CUBE_PLANE = INNER * INNER
};

/** sum of the neighbours - 6 potential */
INLINE double laplacian(const double *p) {
  return ((p[-1] + p[1]) + (p[-SIDE] + p[SIDE])) + (p[-PLANE] + p[PLANE]) - 6.0 * p[0];
}

#endif
