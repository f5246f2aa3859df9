/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a level makes of the shares of the next finer one: pseudo-mass, and means of finer potentials. Most groups of a
 * level have no refined patches inside or beside them: their potential stays, and their pseudo-mass is 0. */
#include "cuda/potential/potential_blocks.cuh"

enum { SHEET_THREADS = FILL_THREADS };

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

/** Whether finer groups tell a group something. The same for all threads. */
static __device__ bool is_told(const struct gas_links &l) {
  __shared__ bool told;
  const int i = (int)threadIdx.x, patch = i % GAS_PATCHES, face = i / GAS_PATCHES - 1;
  if (i == 0) told = false;
  __syncthreads();
  if (face < GAS_FACES && (face < 0 ? l.share[patch] : l.share_beside[patch][face]) != NO_GROUP)
    told = true;
  __syncthreads();
  return told;
}

template <typename real>
static __global__ void __launch_bounds__(SHEET_THREADS)
    find_pseudo_mass(const __grid_constant__ density_of_groups<real> d,
                     const __grid_constant__ potentials s,
                     const struct poisson_share *const *batches, double *sheets, double *later) {
  __shared__ double block[POISSON_CELLS];
  const struct gas_links &l = s.links[blockIdx.x];
  const double inverse = 1.0 / d.factor, *own = group_of(s.near, l.near[MYSELF]);
  const size_t first = (size_t)blockIdx.x * GAS_GROUP_CELLS;
  const bool told = is_told(l);
  double mean;
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS && !told; i += SHEET_THREADS) {
    sheets[first + i] = 0.0;
    later[first + i] = own[i];
  }
  if (!told) return;
  fill_block(s, l, block);
  __syncthreads();
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += SHEET_THREADS)
    if (finer_potential(l, batches, i, &mean)) block[i] = mean;
  __syncthreads();
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += SHEET_THREADS) {
    const int at[3] = {i % INNER, i / INNER % INNER, i / CUBE_PLANE};
    const int patch = at[0] / 8 + 2 * (at[1] / 8) + 4 * (at[2] / 8);
    const int cell = (at[2] % 8 * 8 + at[1] % 8) * 8 + at[0] % 8;
    const double *p = block + place_in_block(at[0], at[1], at[2]);
    const struct poisson_share *mine = share_of(batches, l.share[patch]);
    sheets[first + i] = mine ? inverse * (laplacian(p) + 4.0 * mine->defect[cell] -
                                          source_at(d, at[0], at[1], at[2]))
                             : sheet_mass(l, batches, patch, at, p, inverse);
    later[first + i] = *p;
  }
}

template <typename real>
static void find_in(const struct gpu_gas *g, const struct gpu_potentials *from,
                    const struct gpu_density *density, const char *const *shares, uint32_t batches,
                    double *sheets, double *later) {
  const size_t near_bytes = from->near * sizeof *from->cells,
               share_bytes = batches * sizeof *shares;
  char *table = (char *)gpu_scratch(g->gpu, SCRATCH_TABLE, near_bytes + share_bytes);
  gpu_upload_pair(g->gpu, table, from->cells, near_bytes, shares, share_bytes);
  find_pseudo_mass<real><<<g->groups, SHEET_THREADS, 0, g->gpu->stream>>>(
      density_of<real>(g, density), potentials_in((const double *const *)table, from),
      (const struct poisson_share *const *)(table + near_bytes), sheets, later);
  gpu_launched("sheets");
}

void gpu_gas_sheet(const struct gpu_gas *g, const struct gpu_potentials *from,
                   const char *const *shares, uint32_t batches, const struct gpu_density *density,
                   double *sheets, double *later) {
  if (g->double_precision)
    find_in<double>(g, from, density, shares, batches, sheets, later);
  else
    find_in<float>(g, from, density, shares, batches, sheets, later);
}
