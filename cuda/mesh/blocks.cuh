/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Helpers of transforms between slabs, spectra and blocks. */
#ifndef PHOTONS_BLOCKS_CUH
#define PHOTONS_BLOCKS_CUH

#include "cuda/mesh/gpu_mesh.cuh"

/** The plans for slabs or columns of the given width. */
static inline const struct gpu_plans *plans_for(const struct gpu_plans plans[2], uint32_t width) {
  return &plans[plans[0].width == width ? 0 : 1];
}

#endif
