/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kick: one thread for each particle. The last CUDA block to finish writes the largest numbers. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

enum { BLOCK = 256 };

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
  const size_t n = count, i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  __shared__ int32_t of_block[2];
  int32_t a2 = 0, p2 = 0;
  if (threadIdx.x < 2) of_block[threadIdx.x] = 0;
  if (i < n) {
    const float ax = acceleration[i], ay = acceleration[n + i], az = acceleration[2 * n + i];
    const float px = after_kick(kick, momentum[i], ax), py = after_kick(kick, momentum[n + i], ay),
                pz = after_kick(kick, momentum[2 * n + i], az);
    a2 = magnitude_bits(ax * ax + ay * ay + az * az);
    p2 = magnitude_bits(px * px + py * py + pz * pz);
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
  kick_all<<<blocks_for(count, BLOCK), BLOCK, 0, g->stream>>>(count, kick, acceleration, momentum,
                                                              largest);
  gpu_launched("kick");
  CHECK_CUDA(
      cudaMemcpyAsync(result, &largest->result, sizeof *result, cudaMemcpyDeviceToHost, g->stream));
}
