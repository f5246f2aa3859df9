/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick: one thread for each particle. The last CUDA block to finish writes the largest
 * acceleration. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

enum { BLOCK = 256 };

struct largest {
  uint32_t square; /* bits of a float >= 0, which have the order of integers */
  uint32_t blocks_done;
  float result;
};

static __global__ void kick(uint32_t count, float factor, const float *__restrict__ acceleration, float *__restrict__ momentum,
                            struct largest *largest) {
  const size_t n = count, i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  float a2 = 0.0f;
  if (i < n) {
    const float ax = acceleration[i], ay = acceleration[n + i], az = acceleration[2 * n + i];
    a2 = ax * ax + ay * ay + az * az;
    momentum[i] += factor * ax;
    momentum[n + i] += factor * ay;
    momentum[2 * n + i] += factor * az;
  }
  a2 = warp_max(a2);
  if (threadIdx.x % WARP == 0) atomicMax(&largest->square, __float_as_uint(a2));
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&largest->blocks_done, 1) == gridDim.x - 1) {
    largest->result = sqrtf(__uint_as_float(atomicExch(&largest->square, 0)));
    largest->blocks_done = 0;
  }
}

void gpu_kick(struct gpu *g, uint32_t count, float factor, const float *acceleration, float *momentum, float *acc_max) {
  struct largest *largest = (struct largest *)(g->counters + 1);
  kick<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, factor, acceleration, momentum, largest);
  gpu_launched("kick");
  CHECK_CUDA(cudaMemcpyAsync(acc_max, &largest->result, sizeof *acc_max, cudaMemcpyDeviceToHost, g->stream));
}
