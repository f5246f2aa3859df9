/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities of finer levels: codelets/pm/gas_collect.c. One block of threads a group. */
#include "cuda/pm/clouds.cuh"

/** Means of finer densities in refined patches. */
static __global__ void __launch_bounds__(CLOUD_THREADS)
    collect(const struct gas_links *links, const struct gas_matter *const *finer,
            struct gas_matter *matter) {
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CLOUD_THREADS) {
    const int x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
    const gas_link_t son = links[blockIdx.x].son[x / 8 + 2 * (y / 8) + 4 * (z / 8)];
    if (son == NO_GROUP) continue;
    const struct gas_matter *from = finer[son >> GAS_LINK_SHIFT] + (son & GAS_LINK_MASK);
    matter[blockIdx.x].fine[i] = matter_mean(*from, x % 8, y % 8, z % 8);
  }
}

void gpu_gas_collect(const struct gpu_gas *g, const struct gas_links *links,
                     const char *const *finer, uint32_t batches, struct gas_matter *matter) {
  const struct gas_matter **table = (const struct gas_matter **)gpu_scratch(
      g->gpu, SCRATCH_TABLE, batches * sizeof *table);
  gpu_upload(g->gpu, table, finer, batches * sizeof *table);
  collect<<<g->groups, CLOUD_THREADS, 0, g->gpu->stream>>>(links, table, matter);
  gpu_launched("collect");
}
