/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conserved sums of each group. One block a group. */
#include "cuda/amr/real.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum { SUM_THREADS = 256, SUM_WARPS = SUM_THREADS / WARP };

template <typename real>
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_cells(int variables, const struct gas_links *links, const real *cells,
              double (*sum)[GAS_VARIABLES_MAX]) {
  for (int q = 0; q < variables; q++) {
    const real *mine = cells + ((size_t)blockIdx.x * variables + q) * GAS_GROUP_CELLS;
    double mine_sum = 0;
    for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += SUM_THREADS)
      if (!(links[blockIdx.x].refined >> i / GAS_PATCH_CELLS & 1)) mine_sum += (double)mine[i];
    mine_sum = block_sum<SUM_WARPS>(mine_sum);
    if (threadIdx.x == 0) sum[blockIdx.x][q] = mine_sum;
  }
}

void gpu_gas_sum(const struct gpu_gas *g, const struct gas_links *links, const void *cells,
                 double (*sum)[GAS_VARIABLES_MAX]) {
  const int variables = (int)gas_variables(&g->physics);
  if (g->double_precision)
    sum_cells<<<g->groups, SUM_THREADS, 0, g->gpu->stream>>>(variables, links,
                                                             (const double *)cells, sum);
  else
    sum_cells<<<g->groups, SUM_THREADS, 0, g->gpu->stream>>>(variables, links, (const float *)cells,
                                                             sum);
  gpu_launched("sum");
}
