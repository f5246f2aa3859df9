/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities of particles: codelets/pm/gas_deposit.c. */
#include "cuda/pm/cloud_sums.cuh"

/** Where a cell of a group is in the patch that the group refines, [z 16][y 16][x 16] of the father. */
INLINE int place_in_father(uint32_t patch, int i) {
  int at = 0;
#pragma unroll
  for (int c = 2; c >= 0; c--)
    at = SIDE * at + GAS_PATCH_SIDE * (int)(patch >> c & 1) + (i >> 4 * c & 15) / 2;
  return at;
}

/** @param coarse  densities of the next coarser level; NULL: there is none
 * @param ahead   densities of finer levels stay, else they become 0 */
static __global__ void __launch_bounds__(CLOUD_THREADS)
    deposit(const __grid_constant__ clouds s, const struct gas_matter *const *coarse, bool ahead,
            struct gas_matter *matter) {
  const struct gas_links &l = s.links[blockIdx.x];
  const unsigned long long *sums = sum_clouds(s);
  struct gas_matter *mine = matter + blockIdx.x;
  const struct gas_matter *father = NULL;
  if (coarse) {
    const gas_link_t link = l.coarse[MYSELF];
    father = coarse[link >> GAS_LINK_SHIFT] + (link & GAS_LINK_MASK);
  }
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += CLOUD_THREADS) {
    const double density = density_of_sum(s, sums[i]);
    mine->own[i] = density;
    mine->coarse[i] = density + (father ? father->coarse[place_in_father(l.patch, i)] : 0.0);
    if (!ahead) mine->fine[i] = 0.0;
  }
}

void gpu_gas_deposit(const struct gpu_gas *g, const struct gpu_clouds *c,
                     const struct gas_links *links, const char *const *coarse, uint32_t batches,
                     bool ahead, struct gas_matter *matter) {
  const struct gas_matter *const *table;
  const clouds s = upload_clouds(g, c, links, coarse, batches, &table);
  deposit<<<g->groups, CLOUD_THREADS, 0, g->gpu->stream>>>(s, batches > 0 ? table : NULL, ahead,
                                                           matter);
  gpu_launched("deposit");
}
