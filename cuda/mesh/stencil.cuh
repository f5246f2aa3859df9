/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mass assignment for one particle. src/mesh/kernels/mesh.c has the same for batches of
 * particles. */
#ifndef PHOTONS_STENCIL_CUH
#define PHOTONS_STENCIL_CUH

#include "cuda/mesh/gpu_mesh.cuh"

/* cell modulo N, for cell < 2N */
static __device__ inline uint32_t wrap(uint32_t cell, uint32_t cells) {
  return cell < cells ? cell : cell - cells;
}

/** Weights of a particle that is f cells past its first cell; `low` holds f 2^32. */
template <int SCHEME> static __device__ inline void weights(uint32_t low, float w[4]) {
  const float f = (float)(int)(low >> 8) * 0x1p-24f, g = 1.0f - f;
  if (SCHEME == ASSIGN_CIC) {
    w[0] = g;
    w[1] = f;
    w[2] = w[3] = 0.0f;
  } else if (SCHEME == ASSIGN_TSC) { /* the distance to the nearest cell is f - 1/2 */
    w[0] = 0.5f * g * g;
    w[1] = 0.75f - (f - 0.5f) * (f - 0.5f);
    w[2] = 0.5f * f * f;
    w[3] = 0.0f;
  } else {
    w[0] = g * g * g * (1.0f / 6.0f);
    w[1] = (4.0f - 6.0f * f * f + 3.0f * f * f * f) * (1.0f / 6.0f);
    w[2] = (4.0f - 6.0f * g * g + 3.0f * g * g * g) * (1.0f / 6.0f);
    w[3] = f * f * f * (1.0f / 6.0f);
  }
}

/** Call a host function template with the assignment scheme as its argument. */
#define FOR_SCHEME(scheme, function, ...)                      \
  do {                                                         \
    switch (scheme) {                                          \
    case ASSIGN_CIC: function<ASSIGN_CIC>(__VA_ARGS__); break; \
    case ASSIGN_TSC: function<ASSIGN_TSC>(__VA_ARGS__); break; \
    default: function<ASSIGN_PCS>(__VA_ARGS__); break;         \
    }                                                          \
  } while (0)

#endif
