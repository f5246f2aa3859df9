/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources of potentials: one block of threads a group. */
#include "cuda/potential/density.cuh"

enum { SOURCE_THREADS = 256 };

template <typename real>
static __global__ void __launch_bounds__(SOURCE_THREADS)
    find_source(const __grid_constant__ density_of_groups<real> d, double *source) {
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += SOURCE_THREADS) {
    const int x = i % GAS_GROUP_SIDE, y = i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
              z = i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE);
    source[(size_t)blockIdx.x * GAS_GROUP_CELLS + i] = source_at(d, x, y, z);
  }
}

void gpu_gas_source(const struct gpu_gas *g, const struct gpu_density *density, double *source) {
  if (g->double_precision)
    find_source<double>
        <<<g->groups, SOURCE_THREADS, 0, g->gpu->stream>>>(density_of<double>(g, density), source);
  else
    find_source<float>
        <<<g->groups, SOURCE_THREADS, 0, g->gpu->stream>>>(density_of<float>(g, density), source);
  gpu_launched("source");
}
