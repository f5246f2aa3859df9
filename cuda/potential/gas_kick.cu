/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acceleration by the potential, src/potential/kernels/gravity.h: one thread a cell. */
#include "cuda/potential/density.cuh"

enum { KICK_THREADS = 256 };

template <typename real>
static __global__ void __launch_bounds__(KICK_THREADS)
    kick(uint32_t groups, uint32_t variables, double factor, const double *blocks, real *cells) {
  const int step[3] = {1, POISSON_SIDE, POISSON_SIDE * POISSON_SIDE};
  const uint32_t thread = blockIdx.x * KICK_THREADS + threadIdx.x;
  const uint32_t group = thread / GAS_GROUP_CELLS, cell = thread % GAS_GROUP_CELLS;
  if (group >= groups) return;
  const double *p = potential_at(blocks + (size_t)group * POISSON_CELLS, (int)cell);
  real *u = cells + (size_t)group * variables * GAS_GROUP_CELLS + cell;
  const real density = u[GAS_DENSITY * GAS_GROUP_CELLS];
  real energy = u[GAS_ENERGY * GAS_GROUP_CELLS];
#pragma unroll
  for (int a = 0; a < 3; a++) {
    real *momentum = u + (GAS_MOMENTUM_X + a) * GAS_GROUP_CELLS;
    const real change = (real)(-factor * (p[step[a]] - p[-step[a]]));
    energy += change * (*momentum + (real)0.5 * density * change);
    *momentum += density * change;
  }
  u[GAS_ENERGY * GAS_GROUP_CELLS] = energy;
}

template <typename real>
static void kick_in(const struct gpu_gas *g, double factor, const double *blocks, void *cells) {
  kick<<<blocks_for((uint64_t)g->groups * GAS_GROUP_CELLS, KICK_THREADS), KICK_THREADS, 0,
         g->gpu->stream>>>(g->groups, gas_variables(&g->physics), factor, blocks, (real *)cells);
  gpu_launched("kick");
}

void gpu_gas_kick(const struct gpu_gas *g, double factor, const double *blocks, void *cells) {
  if (g->double_precision)
    kick_in<double>(g, factor, blocks, cells);
  else
    kick_in<float>(g, factor, blocks, cells);
}
