/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All cells get the same acceleration, src/hydro/kernels/accelerate.h: one thread a cell. */
#include "cuda/amr/real.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum { ACCELERATE_THREADS = 256 };

template <typename real> struct velocity { real along[3]; };

template <typename real>
static __global__ void __launch_bounds__(ACCELERATE_THREADS)
    accelerate(uint32_t groups, uint32_t variables, const __grid_constant__ velocity<real> change,
               real *cells) {
  const uint32_t thread = blockIdx.x * ACCELERATE_THREADS + threadIdx.x;
  const uint32_t group = thread / GAS_GROUP_CELLS, cell = thread % GAS_GROUP_CELLS;
  if (group >= groups) return;
  real *u = cells + (size_t)group * variables * GAS_GROUP_CELLS + cell;
  const real density = u[GAS_DENSITY * GAS_GROUP_CELLS];
  real energy = u[GAS_ENERGY * GAS_GROUP_CELLS];
#pragma unroll
  for (int a = 0; a < 3; a++) {
    real *momentum = u + (GAS_MOMENTUM_X + a) * GAS_GROUP_CELLS;
    const real by = change.along[a];
    energy += by * (*momentum + (real)0.5 * density * by);
    *momentum += density * by;
  }
  u[GAS_ENERGY * GAS_GROUP_CELLS] = energy;
}

template <typename real>
static void accelerate_in(const struct gpu_gas *g, const double change[3], void *cells) {
  const velocity<real> by = {{(real)change[0], (real)change[1], (real)change[2]}};
  accelerate<<<blocks_for((uint64_t)g->groups * GAS_GROUP_CELLS, ACCELERATE_THREADS),
               ACCELERATE_THREADS, 0, g->gpu->stream>>>(g->groups, gas_variables(&g->physics), by,
                                                        (real *)cells);
  gpu_launched("accelerate");
}

void gpu_gas_accelerate(const struct gpu_gas *g, const double change[3], void *cells) {
  if (g->double_precision)
    accelerate_in<double>(g, change, cells);
  else
    accelerate_in<float>(g, change, cells);
}
