/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a level makes of the shares of the next finer one: pseudo-mass, and means of finer potentials. */
#include "cuda/potential/laplacian.cuh"

enum { SHEET_THREADS = 256 };

/** What a group of the batches of gas_batch.around tells; NULL: there is none. */
INLINE const struct poisson_share *share_of(const struct poisson_share *const *batches,
                                            gas_link_t link) {
  return link == NO_GROUP ? NULL : batches[link >> GAS_LINK_SHIFT] + (link & GAS_LINK_MASK);
}

/** The finer mean of cell i of a block, inside or beyond a face. @return false: there is none */
INLINE bool finer_potential(const struct gas_links &l, const struct poisson_share *const *batches,
                            int i, double *mean) {
  const int at[3] = {i % SIDE - 1, i / SIDE % SIDE - 1, i / PLANE - 1};
  int patch = 0, cell = 0, outside = 0, face = 0;
#pragma unroll
  for (int c = 2; c >= 0; c--) {
    const bool upper = at[c] == INNER, beyond = at[c] < 0 || upper;
    outside += beyond;
    if (beyond) face = 2 * c + upper;
    patch |= (upper || (!beyond && at[c] >= GAS_PATCH_SIDE)) << c;
    cell = GAS_PATCH_SIDE * cell + (at[c] & (GAS_PATCH_SIDE - 1));
  }
  if (outside > 1) return false;
  const struct poisson_share *share = share_of(batches, outside == 0 ? l.share[patch]
                                                                     : l.share_beside[patch][face]);
  if (share) *mean = share->mean[cell];
  return share != NULL;
}

/** The pseudo-mass of a cell of a patch that is not refined: of the sheets between it and patches
 * that are. @param inverse  1/factor of struct gpu_density */
INLINE double sheet_mass(const struct gas_links &l, const struct poisson_share *const *batches,
                         int patch, const int at[3], const double *p, double inverse) {
  const int step[3] = {1, SIDE, PLANE};
  double mass = 0.0;
#pragma unroll
  for (int face = 0; face < GAS_FACES; face++) {
    const int axis = face / 2, fast = axis == 0 ? 1 : 0, slow = axis == 2 ? 1 : 2;
    if ((at[axis] & 7) != (face & 1 ? 7 : 0)) continue;
    const struct poisson_share *share = share_of(batches, l.share_beside[patch][face]);
    if (!share) continue;
    const double slope = share->slope[face ^ 1][8 * (at[slow] & 7) + (at[fast] & 7)];
    mass -= inverse * (p[0] - p[face & 1 ? step[axis] : -step[axis]] - 2.0 * slope);
  }
  return mass;
}

template <typename real>
static __global__ void __launch_bounds__(SHEET_THREADS)
    find_pseudo_mass(const __grid_constant__ density_of_groups<real> d,
                     const struct gas_links *links, const struct poisson_share *const *batches,
                     double *blocks, double *sheets, double *potentials) {
  const struct gas_links &l = links[blockIdx.x];
  const double inverse = 1.0 / d.factor;
  const size_t first = (size_t)blockIdx.x * GAS_GROUP_CELLS;
  double *block = blocks + (size_t)blockIdx.x * POISSON_CELLS, mean;
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += SHEET_THREADS)
    if (finer_potential(l, batches, i, &mean)) block[i] = mean;
  __syncthreads(); /* also orders the threads' accesses to the block's global memory */
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += SHEET_THREADS) {
    const int at[3] = {i % INNER, i / INNER % INNER, i / CUBE_PLANE};
    const int patch = at[0] / 8 + 2 * (at[1] / 8) + 4 * (at[2] / 8);
    const int cell = (at[2] % 8 * 8 + at[1] % 8) * 8 + at[0] % 8;
    const double *p = block + place_in_block(at[0], at[1], at[2]);
    const struct poisson_share *mine = share_of(batches, l.share[patch]);
    sheets[first + i] = mine ? inverse * (laplacian(p) + 4.0 * mine->defect[cell] -
                                          source_at(d, at[0], at[1], at[2]))
                             : sheet_mass(l, batches, patch, at, p, inverse);
    potentials[first + i] = *p;
  }
}

void gpu_gas_sheet(const struct gpu_gas *g, const struct gas_links *links,
                   const char *const *shares, uint32_t batches, const struct gpu_density *density,
                   double *blocks, double *sheets, double *potentials) {
  const struct poisson_share **table = (const struct poisson_share **)gpu_scratch(
      g->gpu, SCRATCH_TABLE, batches * sizeof *table);
  gpu_upload(g->gpu, table, shares, batches * sizeof *table);
  if (g->double_precision)
    find_pseudo_mass<double><<<g->groups, SHEET_THREADS, 0, g->gpu->stream>>>(
        density_of<double>(g, density), links, table, blocks, sheets, potentials);
  else
    find_pseudo_mass<float><<<g->groups, SHEET_THREADS, 0, g->gpu->stream>>>(
        density_of<float>(g, density), links, table, blocks, sheets, potentials);
  gpu_launched("sheets");
}
