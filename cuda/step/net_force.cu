/* SPDX-License-Identifier: GPL-3.0-or-later */
/* net_force: CUDA blocks add up parts of a group in double precision, and another kernel their sums, all in
 * a fixed order. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

/* Warps of a CUDA block; there are as many CUDA blocks as threads in one. */
#ifndef PARTICLE_SUM_WARPS
#define PARTICLE_SUM_WARPS 8
#endif
enum { WARPS = PARTICLE_SUM_WARPS, BLOCK = WARPS * WARP, PARTS = BLOCK, SUMS = 18 };
static_assert(sizeof(struct net_force_sums) == SUMS * sizeof(double),
              "sums are written as an array");

static __global__ void __launch_bounds__(BLOCK)
    add_particles(const __grid_constant__ struct net_force_arrays p, double *__restrict__ of_part) {
  struct net_force_sums sums = {};
  for (size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < p.count; i += PARTS * BLOCK)
    net_force_add(&p, i, &sums);
  const double *sum = (const double *)&sums;
#pragma unroll
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

void gpu_net_force(struct gpu *g, const struct net_force_arrays *arrays,
                   struct net_force_sums *sums) {
  double *of_part = (double *)gpu_scratch(g, SCRATCH_PARTS, SUMS * (PARTS + 1) * sizeof *of_part),
         *all = of_part + SUMS * PARTS;
  add_particles<<<PARTS, BLOCK, 0, g->stream>>>(*arrays, of_part);
  gpu_launched("add_particles");
  add_parts<<<SUMS, BLOCK, 0, g->stream>>>(of_part, all);
  gpu_launched("add_parts");
  CHECK_CUDA(cudaMemcpyAsync(sums, all, sizeof *sums, cudaMemcpyDeviceToHost, g->stream));
}
