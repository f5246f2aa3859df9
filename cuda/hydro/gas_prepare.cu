/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of cells with ghost cells. */
#include "cuda/amr/blocks.cuh"
#include "cuda/hydro/gpu_hydro.h"
#include "cuda/hydro/heat.cuh"

enum { PREPARE_THREADS_OF_GROUP = HEAT_RANGES * WARP };

/** Write one cell of a group's block.
 * @tparam CARRIED  write the variables that the gas carries, else those of the solver
 * @param[out] u  those of the solver */
template <int V, bool CARRIED, typename real>
INLINE void prepare_cell(const sources<real> &s, uint32_t group, int cell, real *blocks, real *u) {
  const struct gas_links &l = s.links[group];
  const struct place p = inside(l, s.reflecting,
                                {{cell % GAS_BLOCK_SIDE, cell / GAS_BLOCK_SIDE % GAS_BLOCK_SIDE,
                                  cell / (GAS_BLOCK_SIDE * GAS_BLOCK_SIDE)},
                                 0},
                                GAS_GROUP_SIDE);
  const gas_link_t near = l.near[neighbour_at(p, GAS_GROUP_SIDE)];
  real *to = blocks + (size_t)group * s.c.variables * GAS_BLOCK_CELLS + cell;
  if (near != NO_GROUP) {
    const real *from = group_of(s.c.variables, s.near, near) +
                       place_in_group(p.at[0] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                                      p.at[1] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                                      p.at[2] - GAS_GHOSTS & GAS_GROUP_SIDE - 1);
#pragma unroll
    for (int q = 0; q < V; q++) u[q] = from[q * GAS_GROUP_CELLS];
    for (int q = V; CARRIED && q < (int)s.c.variables; q++)
      to[q * GAS_BLOCK_CELLS] = from[q * GAS_GROUP_CELLS];
  } else {
    const real least = interpolated_cell<V>(s, l, p, u);
    for (int q = V; CARRIED && q < (int)s.c.variables; q++)
      to[q * GAS_BLOCK_CELLS] = interpolated_carried(s, l, p, q, u[0], least);
  }
  if (CARRIED) return;
  negate<V>(p.negate, u);
#pragma unroll
  for (int q = 0; q < V; q++) to[q * GAS_BLOCK_CELLS] = u[q];
}

/** One warp a range of the cells' heat. */
template <int V, bool CARRIED, typename real>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    prepare(const __grid_constant__ sources<real> s, real *blocks, heat_range *heat) {
  const uint32_t thread = blockIdx.x * BLOCK_THREADS + threadIdx.x;
  const uint32_t group = thread / PREPARE_THREADS_OF_GROUP;
  const int cell = (int)(thread % PREPARE_THREADS_OF_GROUP);
  if (group >= s.groups) return; /* the same for all threads of a warp */
  real u[V];
  if (cell < GAS_BLOCK_CELLS) prepare_cell<V, CARRIED>(s, group, cell, blocks, u);
  if (CARRIED || !heat) return;
  const heat_range all = warp_heat(cell < GAS_BLOCK_CELLS ? heat_of(u) : no_heat());
  if (threadIdx.x % WARP == 0) heat[thread / WARP] = all;
}

template <int V, typename real>
static void prepare_in(const struct gpu_gas *g, const struct gpu_sources *from, void *blocks,
                       heat_range *heat) {
  const size_t batches = from->near + (from->weight == 1.0 ? 1 : 2) * (size_t)from->coarse;
  const real **table = (const real **)gpu_scratch(g->gpu, SCRATCH_TABLE, batches * sizeof *table);
  gpu_upload(g->gpu, table, from->cells, batches * sizeof *table);
  const sources<real> s = sources_of<real>(g, from, table);
  const unsigned cuda_blocks = blocks_for((uint64_t)g->groups * PREPARE_THREADS_OF_GROUP,
                                          BLOCK_THREADS);
  prepare<V, false><<<cuda_blocks, BLOCK_THREADS, 0, g->gpu->stream>>>(s, (real *)blocks, heat);
  if (s.c.variables > V)
    prepare<V, true><<<cuda_blocks, BLOCK_THREADS, 0, g->gpu->stream>>>(s, (real *)blocks, heat);
  gpu_launched("prepare");
}

void gpu_gas_prepare(const struct gpu_gas *g, const struct gpu_sources *s, void *blocks,
                     struct heat_range *heat) {
  const bool five = g->physics.solver == GAS_RTVD;
  if (g->double_precision)
    five ? prepare_in<5, double>(g, s, blocks, heat) : prepare_in<6, double>(g, s, blocks, heat);
  else
    five ? prepare_in<5, float>(g, s, blocks, heat) : prepare_in<6, float>(g, s, blocks, heat);
}

void *gpu_gas_blocks(const struct gpu_gas *g) {
  const size_t real = g->double_precision ? sizeof(double) : sizeof(float);
  return gpu_scratch(g->gpu, SCRATCH_CELLS,
                     g->groups * gas_variables(&g->physics) * GAS_BLOCK_CELLS * real);
}
