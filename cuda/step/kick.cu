/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick: each thread pushes several particles, so that few CUDA blocks meet at the largest numbers. The last
 * block to finish writes them. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

enum { BLOCK = 256, EACH = 8 };

struct largest {
  int32_t acceleration2, momentum2; /* bits of squares, see kick_largest.h */
  uint32_t blocks_done;
  struct kick_largest result;
};

static __device__ float take_root(int32_t *square) {
  return sqrtf(magnitude_from_bits(atomicExch(square, 0)));
}

static __global__ void kick_all(uint32_t count, struct kick kick,
                                const float *__restrict__ acceleration,
                                float *__restrict__ momentum, struct largest *largest) {
  const size_t n = count, first = (size_t)blockIdx.x * EACH * BLOCK + threadIdx.x;
  __shared__ int32_t of_block[2];
  int32_t a2 = 0, p2 = 0;
  if (threadIdx.x < 2) of_block[threadIdx.x] = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const size_t i = first + (size_t)k * BLOCK;
    if (i >= n) break;
    const float ax = acceleration[i], ay = acceleration[n + i], az = acceleration[2 * n + i];
    const float px = after_kick(kick, momentum[i], ax), py = after_kick(kick, momentum[n + i], ay),
                pz = after_kick(kick, momentum[2 * n + i], az);
    a2 = max(a2, magnitude_bits(ax * ax + ay * ay + az * az));
    p2 = max(p2, magnitude_bits(px * px + py * py + pz * pz));
    momentum[i] = px;
    momentum[n + i] = py;
    momentum[2 * n + i] = pz;
  }
  a2 = warp_max(a2);
  p2 = warp_max(p2);
  __syncthreads();
  if (threadIdx.x % WARP == 0) {
    atomicMax(&of_block[0], a2);
    atomicMax(&of_block[1], p2);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicMax(&largest->acceleration2, of_block[0]);
  atomicMax(&largest->momentum2, of_block[1]);
  __threadfence();
  if (atomicAdd(&largest->blocks_done, 1) == gridDim.x - 1) {
    largest->result.acceleration = take_root(&largest->acceleration2);
    largest->result.momentum = take_root(&largest->momentum2);
    largest->blocks_done = 0;
  }
}

void gpu_kick(struct gpu *g, uint32_t count, struct kick kick, const float *acceleration,
              float *momentum, struct kick_largest *result) {
  struct largest *largest = (struct largest *)(g->counters + COUNTERS_KICK);
  static_assert(sizeof *largest <= (COUNTERS_RUNGS - COUNTERS_KICK) * sizeof *g->counters,
                "more than the counters hold");
  kick_all<<<blocks_for(count, EACH * BLOCK), BLOCK, 0, g->stream>>>(count, kick, acceleration,
                                                                     momentum, largest);
  gpu_launched("kick");
  CHECK_CUDA(
      cudaMemcpyAsync(result, &largest->result, sizeof *result, cudaMemcpyDeviceToHost, g->stream));
}
