/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What densities change by the motion of particles: codelets/pm/gas_ahead.c. */
#include "cuda/pm/cloud_sums.cuh"

static __global__ void __launch_bounds__(CLOUD_THREADS)
    move_on(const __grid_constant__ clouds s, struct gas_matter *matter) {
  const unsigned long long *sums = sum_clouds(s);
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CLOUD_THREADS)
    matter[blockIdx.x].fine[i] += density_of_sum(s, sums[i]);
}

void gpu_gas_move_on(const struct gpu_gas *g, const struct gpu_clouds *c,
                     const struct gas_links *links, double time, struct gas_matter *matter) {
  const struct gas_matter *const *table;
  clouds s = upload_clouds(g, c, links, NULL, 0, &table);
  s.moving = true;
  s.time = time;
  move_on<<<g->groups, CLOUD_THREADS, 0, g->gpu->stream>>>(s, matter);
  gpu_launched("move on");
}
