/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials of groups with their ghost cells, src/potential/potential_blocks.c. One block of threads a
 * group. */
#include "cuda/potential/potential_blocks.cuh"

static __global__ void __launch_bounds__(FILL_THREADS)
    fill_blocks(const __grid_constant__ potentials s, double *blocks) {
  __shared__ double coarse[POISSON_COARSE_CELLS];
  __shared__ const double *groups[NEIGHBOURS];
  const struct gas_links &l = s.links[blockIdx.x];
  const bool interpolates = (s.begin || s.end) && faces_near(s, l) != ALL_FACES;
  double *block = blocks + (size_t)blockIdx.x * POISSON_CELLS;
  find_groups(s.near, l.near, groups);
  __syncthreads();
  if (interpolates) around_group(s, l, false, coarse);
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += FILL_THREADS) {
    const struct spot p = spot_of<1>(i);
    const double *near = group_at(groups, p);
    block[i] = near                            ? near[p.cell]
               : interpolates && p.outside < 2 ? interpolated(coarse, p.x, p.y, p.z)
                                               : 0.0;
  }
  if (!interpolates) beyond_box(l.edges, SIDE, 1, block);
  if (s.change == 0.0) return;
  around_group(s, l, true, coarse);
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += FILL_THREADS) {
    const struct spot p = spot_of<1>(i);
    if (group_at(groups, p)) block[i] += interpolated(coarse, p.x, p.y, p.z);
  }
}

/** Cubes with two ghost cells a side. */
static __global__ void __launch_bounds__(FILL_THREADS)
    fill_wide(const __grid_constant__ potentials s, double *wide) {
  __shared__ double coarse[POISSON_COARSE_CELLS];
  __shared__ const double *groups[NEIGHBOURS];
  const struct gas_links &l = s.links[blockIdx.x];
  const bool interpolates = s.begin || s.end;
  find_groups(s.near, l.near, groups);
  __syncthreads();
  double *cube = wide + (size_t)blockIdx.x * WIDE_CELLS;
  if (interpolates) around_group(s, l, false, coarse);
  for (int i = (int)threadIdx.x; i < WIDE_CELLS; i += FILL_THREADS) {
    const struct spot p = spot_of<WIDE_GHOSTS>(i);
    const double *near = groups[p.neighbour];
    cube[i] = near ? near[p.cell] : interpolates ? interpolated(coarse, p.x, p.y, p.z) : 0.0;
  }
  if (!interpolates) beyond_box(l.edges, WIDE_SIDE, WIDE_GHOSTS, cube);
}

/** The table of batches is in scratch memory. */
static potentials upload(const struct gpu_gas *g, const struct gpu_potentials *p) {
  const size_t bytes = batches_of(p) * sizeof *p->cells;
  const double **table = (const double **)gpu_scratch(g->gpu, SCRATCH_TABLE, bytes);
  gpu_upload(g->gpu, table, p->cells, bytes);
  return potentials_in(table, p);
}

double *gpu_gas_potential_wide(const struct gpu_gas *g, const struct gpu_potentials *p) {
  double *wide = (double *)gpu_scratch(g->gpu, SCRATCH_CELLS,
                                       (size_t)g->groups * WIDE_CELLS * sizeof *wide);
  fill_wide<<<g->groups, FILL_THREADS, 0, g->gpu->stream>>>(upload(g, p), wide);
  gpu_launched("wide potentials");
  return wide;
}

double *gpu_gas_potential_memory(const struct gpu_gas *g, uint32_t blocks) {
  return (double *)gpu_scratch(g->gpu, SCRATCH_CELLS,
                               (size_t)g->groups * blocks * POISSON_CELLS * sizeof(double));
}

void gpu_gas_potential_blocks(const struct gpu_gas *g, const struct gpu_potentials *p,
                              double *blocks) {
  fill_blocks<<<g->groups, FILL_THREADS, 0, g->gpu->stream>>>(upload(g, p), blocks);
  gpu_launched("potential blocks");
}
