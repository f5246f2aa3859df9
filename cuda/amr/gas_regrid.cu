/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New groups: cells that stay, and cells that are interpolated from the coarser level. */
#include "cuda/amr/blocks.cuh"

/** One thread a cell of a group. All threads of a block are of the same group.
 * @tparam CARRIED  write the variables that the gas carries, else those of the solver */
template <int V, bool CARRIED, typename real>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    regrid(const __grid_constant__ sources<real> s, const real *const *old,
           const struct gas_move *moves, real *cells) {
  static_assert(GAS_GROUP_CELLS % BLOCK_THREADS == 0, "a block is in one group");
  const uint32_t thread = blockIdx.x * BLOCK_THREADS + threadIdx.x;
  const uint32_t group = thread / GAS_GROUP_CELLS;
  const int cell = (int)(thread % GAS_GROUP_CELLS);
  if (group >= s.groups) return;
  const struct gas_move move = moves[group];
  real u[V], *to = cells + (size_t)group * s.c.variables * GAS_GROUP_CELLS + cell;
  if (move.data != NO_GROUP) {
    const real *from = old[move.data] + (size_t)move.group * s.c.variables * GAS_GROUP_CELLS + cell;
#pragma unroll
    for (int q = 0; q < V; q++) u[q] = from[q * GAS_GROUP_CELLS];
    for (int q = V; CARRIED && q < (int)s.c.variables; q++)
      to[q * GAS_GROUP_CELLS] = from[q * GAS_GROUP_CELLS];
  } else {
    const struct cell_place at = place_of_cell(cell);
    const int x = at.x / 2 + 3, y = at.y / 2 + 3, z = at.z / 2 + 3, /* as coarse_part_at() counts */
        child = (at.x & 1) + 2 * (at.y & 1) + 4 * (at.z & 1);
    const struct gas_links &l = s.links[group];
    const interpolation<V, real> i = interpolation_of<V>(s, l, x, y, z);
    child_of(s.c, i, child, u);
    for (int q = V; CARRIED && q < (int)s.c.variables; q++)
      to[q * GAS_GROUP_CELLS] = carried_child(carried_of(s, l, q, x, y, z, i.least), child, u[0]);
  }
#pragma unroll
  for (int q = 0; !CARRIED && q < V; q++) to[q * GAS_GROUP_CELLS] = u[q];
}

template <int V, typename real>
static void regrid_in(const struct gpu_gas *g, const struct gpu_sources *from,
                      const char *const *old, uint32_t count, const struct gas_move *move,
                      void *cells) {
  const size_t table_bytes = (count + (size_t)from->coarse) * sizeof(real *),
               move_bytes = g->groups * sizeof *move;
  char *memory = (char *)gpu_scratch(g->gpu, SCRATCH_TABLE, table_bytes + move_bytes);
  const real *const *table = (const real *const *)memory;
  gpu_upload(g->gpu, memory, old, count * sizeof *old);
  gpu_upload(g->gpu, memory + count * sizeof *old, from->cells, from->coarse * sizeof *old);
  gpu_upload(g->gpu, memory + table_bytes, move, move_bytes);
  const sources<real> s = sources_of<real>(g, from, table + count);
  const struct gas_move *moves = (const struct gas_move *)(memory + table_bytes);
  const unsigned cuda_blocks = blocks_for((uint64_t)g->groups * GAS_GROUP_CELLS, BLOCK_THREADS);
  regrid<V, false>
      <<<cuda_blocks, BLOCK_THREADS, 0, g->gpu->stream>>>(s, table, moves, (real *)cells);
  if (s.c.variables > V)
    regrid<V, true>
        <<<cuda_blocks, BLOCK_THREADS, 0, g->gpu->stream>>>(s, table, moves, (real *)cells);
  gpu_launched("regrid");
}

void gpu_gas_regrid(const struct gpu_gas *g, const struct gpu_sources *from, const char *const *old,
                    uint32_t count, const struct gas_move *move, void *cells) {
  const bool five = g->physics.solver == GAS_RTVD;
  if (g->double_precision)
    five ? regrid_in<5, double>(g, from, old, count, move, cells)
         : regrid_in<6, double>(g, from, old, count, move, cells);
  else
    five ? regrid_in<5, float>(g, from, old, count, move, cells)
         : regrid_in<6, float>(g, from, old, count, move, cells);
}
