/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift: one thread for each coordinate. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

enum { BLOCK = 256 };

static __global__ void drift(size_t n, float factor, const float *__restrict__ momentum,
                             uint32_t *__restrict__ x) {
  const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) x[i] += (uint32_t)__float2int_rn(factor * momentum[i]);
}

void gpu_drift(struct gpu *g, uint32_t count, float factor, const float *momentum, uint32_t *x) {
  const size_t n = 3 * (size_t)count;
  drift<<<blocks_for(n, BLOCK), BLOCK, 0, g->stream>>>(n, factor, momentum, x);
  gpu_launched("drift");
}
