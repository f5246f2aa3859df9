/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of cells with ghost cells. */
#include "cuda/amr/blocks.cuh"
#include "cuda/hydro/gpu_hydro.h"
#include "cuda/hydro/heat.cuh"

/* One thread has the cells at one place of PLANES planes that follow each other. All threads of a CUDA block have the
 * same group and planes. */
enum {
  PLANES = 2,
  PLANE_CELLS = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE,
  PARTS = (PLANE_CELLS + BLOCK_THREADS - 1) / BLOCK_THREADS, /* of a plane */
  BLOCKS_OF_GROUP = GAS_BLOCK_SIDE / PLANES * PARTS
};
static_assert(GAS_BLOCK_SIDE % PLANES == 0, "all planes are prepared");
static_assert(PARTS * BLOCK_THREADS == HEAT_RANGES_OF_PLANE * WARP, "a warp has one range");

/** What a thread has. */
struct column_part {
  uint32_t group;
  int x, y, z; /* of the first cell */
  int at;      /* in the plane; behind its end there is no cell */
};

INLINE struct column_part part_of_thread() {
  const uint32_t part = blockIdx.x % BLOCKS_OF_GROUP;
  const int at = (int)(part % PARTS * BLOCK_THREADS + threadIdx.x);
  return {blockIdx.x / BLOCKS_OF_GROUP, at % GAS_BLOCK_SIDE, at / GAS_BLOCK_SIDE,
          (int)(part / PARTS) * PLANES, at};
}

/** The cell of a near group that a place has the values of; NULL: the place is interpolated. */
template <typename real>
INLINE const real *near_cell(const sources<real> &s, const struct gas_links &l, struct place p) {
  const gas_link_t near = l.near[neighbour_at(p, GAS_GROUP_SIDE)];
  if (near == NO_GROUP) return NULL;
  return group_of(s.c.variables, s.near, near) +
         place_in_group(p.at[0] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                        p.at[1] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                        p.at[2] - GAS_GHOSTS & GAS_GROUP_SIDE - 1);
}

/** The place whose values cell k of a thread has. */
template <typename real>
INLINE struct place place_of(const sources<real> &s, const struct gas_links &l,
                             const column_part &part, int k) {
  return inside(l, s.reflecting, {{part.x, part.y, part.z + k}, 0}, GAS_GROUP_SIDE);
}

/** The variables of the solver of a thread's cells. */
template <int V, typename real>
INLINE void read_cells(const sources<real> &s, const column_part &part, real (*u)[V]) {
  const struct gas_links &l = s.links[part.group];
  const real *from[PLANES];
  uint32_t negated[PLANES];
#pragma unroll
  for (int k = 0; k < PLANES; k++) {
    const struct place p = place_of(s, l, part, k);
    negated[k] = p.negate;
    from[k] = near_cell(s, l, p);
  }
#pragma unroll
  for (int k = 0; k < PLANES; k++)
#pragma unroll
    for (int q = 0; q < V; q++) u[k][q] = from[k] ? from[k][q * GAS_GROUP_CELLS] : (real)0;
#pragma unroll
  for (int k = 0; k < PLANES; k++) {
    if (!from[k]) interpolated_cell<V>(s, l, place_of(s, l, part, k), u[k]);
    negate<V>(negated[k], u[k]);
  }
}

/** Write the variables of the solver into blocks. One warp a range of the cells' heat. */
template <int V, typename real>
static __global__ void __launch_bounds__(BLOCK_THREADS, sizeof(real) == sizeof(float) ? 3 : 2)
    prepare(const __grid_constant__ sources<real> s, real *blocks, heat_range *heat) {
  const column_part part = part_of_thread();
  real u[PLANES][V];
  if (part.at < PLANE_CELLS) {
    read_cells<V>(s, part, u);
    real *to = blocks + (size_t)part.group * s.c.variables * GAS_BLOCK_CELLS +
               part.z * PLANE_CELLS + part.at;
#pragma unroll
    for (int k = 0; k < PLANES; k++)
#pragma unroll
      for (int q = 0; q < V; q++) to[q * GAS_BLOCK_CELLS + k * PLANE_CELLS] = u[k][q];
  }
  if (!heat) return;
  heat_range *ranges = heat + (size_t)part.group * HEAT_RANGES + part.z * HEAT_RANGES_OF_PLANE +
                       part.at / WARP;
#pragma unroll
  for (int k = 0; k < PLANES; k++) {
    const heat_range all = warp_heat(part.at < PLANE_CELLS ? heat_of(u[k]) : no_heat());
    if (threadIdx.x % WARP == 0) ranges[k * HEAT_RANGES_OF_PLANE] = all;
  }
}

/** Write the variables that the gas carries into blocks. */
template <int V, typename real>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    prepare_carried(const __grid_constant__ sources<real> s, real *blocks) {
  const column_part part = part_of_thread();
  if (part.at >= PLANE_CELLS) return;
  const struct gas_links &l = s.links[part.group];
  real *to = blocks + (size_t)part.group * s.c.variables * GAS_BLOCK_CELLS + part.z * PLANE_CELLS +
             part.at;
  for (int k = 0; k < PLANES; k++, to += PLANE_CELLS) {
    const struct place p = place_of(s, l, part, k);
    const real *from = near_cell(s, l, p);
    real u[V];
    const real least = from ? (real)0 : interpolated_cell<V>(s, l, p, u);
    for (int q = V; q < (int)s.c.variables; q++)
      to[q * GAS_BLOCK_CELLS] = from ? from[q * GAS_GROUP_CELLS]
                                     : interpolated_carried(s, l, p, q, u[0], least);
  }
}

template <int V, typename real>
static void prepare_in(const struct gpu_gas *g, const struct gpu_sources *from, void *blocks,
                       heat_range *heat) {
  const size_t batches = from->near + (from->weight == 1.0 ? 1 : 2) * (size_t)from->coarse;
  const real **table = (const real **)gpu_scratch(g->gpu, SCRATCH_TABLE, batches * sizeof *table);
  gpu_upload(g->gpu, table, from->cells, batches * sizeof *table);
  const sources<real> s = sources_of<real>(g, from, table);
  const unsigned cuda_blocks = g->groups * BLOCKS_OF_GROUP;
  prepare<V><<<cuda_blocks, BLOCK_THREADS, 0, g->gpu->stream>>>(s, (real *)blocks, heat);
  if (s.c.variables > V)
    prepare_carried<V><<<cuda_blocks, BLOCK_THREADS, 0, g->gpu->stream>>>(s, (real *)blocks);
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
