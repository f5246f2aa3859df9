/* SPDX-License-Identifier: GPL-3.0-or-later */
/* momentum_sum: CUDA blocks add up parts of the momenta in double precision, and another kernel their
 * sums, all in a fixed order. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

/* Warps of a CUDA block; there are as many CUDA blocks as threads in one. */
#ifndef PARTICLE_SUM_WARPS
#define PARTICLE_SUM_WARPS 8
#endif
enum { WARPS = PARTICLE_SUM_WARPS, BLOCK = WARPS * WARP, PARTS = BLOCK, SUMS = 5 };
static_assert(sizeof(struct momentum_sum) == SUMS * sizeof(double), "sums are written as an array");

static __global__ void __launch_bounds__(BLOCK)
    add_particles(uint32_t count, const float *__restrict__ momentum,
                  const float *__restrict__ mass, double *__restrict__ of_part) {
  double sum[SUMS] = {};
  for (size_t n = count, i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += PARTS * BLOCK) {
    const double m = mass ? (double)mass[i] : 1.0;
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
      const double p = momentum[c * n + i];
      sum[c] += m * p;
      square += p * p;
    }
    sum[3] += m * sqrt(square);
    sum[4] += m * square;
  }
  for (int k = 0; k < SUMS; k++) {
    const double all = block_sum<WARPS>(sum[k]);
    if (threadIdx.x == 0) of_part[(size_t)k * PARTS + blockIdx.x] = all;
  }
}

static __global__ void __launch_bounds__(BLOCK)
    add_parts(const double *__restrict__ of_part, double *__restrict__ sum) {
  const double all = block_sum<WARPS>(of_part[(size_t)blockIdx.x * PARTS + threadIdx.x]);
  if (threadIdx.x == 0) sum[blockIdx.x] = all;
}

void gpu_momentum_sum(struct gpu *g, uint32_t count, const float *momentum, const float *mass,
                      struct momentum_sum *sum) {
  double *of_part = (double *)gpu_scratch(g, SCRATCH_PARTS, SUMS * (PARTS + 1) * sizeof *of_part),
         *all = of_part + SUMS * PARTS;
  add_particles<<<PARTS, BLOCK, 0, g->stream>>>(count, momentum, mass, of_part);
  gpu_launched("add_particles");
  add_parts<<<SUMS, BLOCK, 0, g->stream>>>(of_part, all);
  gpu_launched("add_parts");
  CHECK_CUDA(cudaMemcpyAsync(sum, all, sizeof *sum, cudaMemcpyDeviceToHost, g->stream));
}
