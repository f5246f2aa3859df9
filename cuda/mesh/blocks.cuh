/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Helpers of the transpose between spectra and transpose blocks (s, c). */
#ifndef PHOTONS_BLOCKS_CUH
#define PHOTONS_BLOCKS_CUH

#include "cuda/mesh/gpu_mesh.cuh"

/** The plans for slabs or columns of the given width. */
static inline const struct gpu_plans *plans_for(const struct gpu_plans plans[2], uint32_t width) {
  return &plans[plans[0].width == width ? 0 : 1];
}

/** The column that holds ky: the inverse of column_first(). */
static __device__ inline uint32_t column_of(const struct mesh &m, uint32_t ky) {
  return (uint32_t)((((uint64_t)ky + 1) * m.columns - 1) / m.cells);
}

#endif
