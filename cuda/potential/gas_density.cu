/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities of gas and particles: one block of threads a group. */
#include "cuda/potential/density.cuh"

enum { DENSITY_THREADS = 256 };

template <typename real>
static __global__ void __launch_bounds__(DENSITY_THREADS)
    find_density(const __grid_constant__ density_of_groups<real> d, double *density) {
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += DENSITY_THREADS) {
    const int x = i % GAS_GROUP_SIDE, y = i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
              z = i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE);
    density[(size_t)blockIdx.x * GAS_GROUP_CELLS + i] = density_at(d, x, y, z);
  }
}

void gpu_gas_density(const struct gpu_gas *g, const struct gpu_density *from, double *density) {
  if (g->double_precision)
    find_density<double>
        <<<g->groups, DENSITY_THREADS, 0, g->gpu->stream>>>(density_of<double>(g, from), density);
  else
    find_density<float>
        <<<g->groups, DENSITY_THREADS, 0, g->gpu->stream>>>(density_of<float>(g, from), density);
  gpu_launched("density");
}
