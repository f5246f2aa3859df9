/* SPDX-License-Identifier: GPL-3.0-or-later */
/* moments: for each type of particles CUDA blocks add up parts of a group in double precision, and another
 * kernel their sums, all in a fixed order. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"
#include "photons/base/particle_column.h"
#include "photons/domain/geometry.h"

/* Warps of a CUDA block; there are as many CUDA blocks as threads in one. */
#ifndef PARTICLE_SUM_WARPS
#define PARTICLE_SUM_WARPS 8
#endif
enum { WARPS = PARTICLE_SUM_WARPS, BLOCK = WARPS * WARP, PARTS = BLOCK, SUMS = 8 };
static_assert(sizeof(struct moments) == SUMS * sizeof(double), "sums are written as an array");

static __device__ inline void add_particle(const struct moment_arrays &p, size_t i, double *sum) {
  const size_t n = p.count;
  const double m = p.mass ? (double)p.mass[i] : 1.0;
  double r[3], v[3];
  sum[0] += m;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    r[c] = p.unit * position_difference(p.x[c * n + i], FRAME_MIDDLE);
    v[c] = p.momentum[c * n + i];
    sum[1] += m * v[c] * v[c];
    sum[2 + c] += m * r[c];
  }
#pragma unroll
  for (int c = 0; c < 3; c++)
    sum[5 + c] += m * (r[(c + 1) % 3] * v[(c + 2) % 3] - r[(c + 2) % 3] * v[(c + 1) % 3]);
}

/** A row of CUDA blocks for each type. */
static __global__ void __launch_bounds__(BLOCK)
    add_particles(const __grid_constant__ struct moment_arrays p, double *__restrict__ of_part) {
  double sum[SUMS] = {};
  for (size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < p.count; i += PARTS * BLOCK)
    if ((p.type ? p.type[i] : PARTICLE_HALO) == blockIdx.y) add_particle(p, i, sum);
  for (int k = 0; k < SUMS; k++) {
    const double all = block_sum<WARPS>(sum[k]);
    if (threadIdx.x == 0) of_part[((size_t)blockIdx.y * SUMS + k) * PARTS + blockIdx.x] = all;
  }
}

static __global__ void __launch_bounds__(BLOCK)
    add_parts(const double *__restrict__ of_part, double *__restrict__ sum) {
  const double all = block_sum<WARPS>(of_part[(size_t)blockIdx.x * PARTS + threadIdx.x]);
  if (threadIdx.x == 0) sum[blockIdx.x] = all;
}

void gpu_moments(struct gpu *g, const struct moment_arrays *arrays, struct moments *sum) {
  const size_t sums = (size_t)PARTICLE_TYPES * SUMS;
  double *of_part = (double *)gpu_scratch(g, SCRATCH_PARTS, sums * (PARTS + 1) * sizeof *of_part),
         *all = of_part + sums * PARTS;
  add_particles<<<dim3(PARTS, PARTICLE_TYPES), BLOCK, 0, g->stream>>>(*arrays, of_part);
  gpu_launched("add_particles");
  add_parts<<<sums, BLOCK, 0, g->stream>>>(of_part, all);
  gpu_launched("add_parts");
  CHECK_CUDA(cudaMemcpyAsync(sum, all, sums * sizeof *all, cudaMemcpyDeviceToHost, g->stream));
}
