/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the host asks about the potential of groups. One block a group. */
#include "cuda/potential/density.cuh"

enum { FIELD_THREADS = 256, FIELD_WARPS = FIELD_THREADS / WARP };

/** Energy in the potential, and the largest acceleration. */
template <typename real>
static __global__ void __launch_bounds__(FIELD_THREADS)
    measure_field(const __grid_constant__ density_of_groups<real> d, const struct gas_links *links,
                  double cell, const double *blocks, struct gas_field *field) {
  __shared__ unsigned long long largest; /* bits of a positive number, which sort as it does */
  const int step[3] = {1, POISSON_SIDE, POISSON_SIDE * POISSON_SIDE};
  const double *block = blocks + (size_t)blockIdx.x * POISSON_CELLS;
  double sum = 0, most = 0;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += FIELD_THREADS) {
    const double *p = potential_at(block, i);
#pragma unroll
    for (int a = 0; a < 3; a++) most = larger(most, fabs(p[step[a]] - p[-step[a]]));
    if (!(links[blockIdx.x].refined >> i / GAS_PATCH_CELLS & 1)) {
      const struct cell_place c = place_of_cell(i);
      sum += *p * density_at(d, c.x, c.y, c.z);
    }
  }
  atomicMax(&largest, (unsigned long long)__double_as_longlong(most));
  sum = block_sum<FIELD_WARPS>(sum); /* waits for all threads */
  if (threadIdx.x == 0)
    field[blockIdx.x] = {0.5 * sum, __longlong_as_double((long long)largest) / (2.0 * cell)};
}

void gpu_gas_field(const struct gpu_gas *g, const struct gas_links *links, double cell,
                   const double *blocks, const struct gpu_density *density,
                   struct gas_field *field) {
  if (g->double_precision)
    measure_field<<<g->groups, FIELD_THREADS, 0, g->gpu->stream>>>(density_of<double>(g, density),
                                                                   links, cell, blocks, field);
  else
    measure_field<<<g->groups, FIELD_THREADS, 0, g->gpu->stream>>>(density_of<float>(g, density),
                                                                   links, cell, blocks, field);
  gpu_launched("field");
}
