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
/* Cells of the coarser level that cover a block, and those of them that are beside its group. */
enum {
  COARSE_SIDE = GAS_BLOCK_SIDE / 2 + 1,
  COARSE_LAYERS = 2, /* on each side of the group */
  COARSE_OWN = GAS_GROUP_SIDE / 2,
  COARSE_PLANES = 2 * COARSE_LAYERS * COARSE_SIDE * COARSE_SIDE,
  COARSE_ROWS = COARSE_OWN * 2 * COARSE_LAYERS * COARSE_SIDE,
  COARSE_GHOSTS = COARSE_PLANES + COARSE_ROWS + COARSE_OWN * COARSE_OWN * 2 * COARSE_LAYERS,
  COARSE_THREADS = 128
};
static_assert(COARSE_GHOSTS ==
                  COARSE_SIDE * COARSE_SIDE * COARSE_SIDE - COARSE_OWN * COARSE_OWN * COARSE_OWN,
              "all coarser cells beside a group have a thread");
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

/** Layer i of those on both sides of the group, along an axis of COARSE_SIDE coarser cells. */
INLINE int layer_beside(int i) { return i < COARSE_LAYERS ? i : i + COARSE_OWN; }

/** Coarser cell i of the COARSE_GHOSTS, as coarse_part_at() counts: first whole planes, then whole rows, then ends of rows. */
INLINE struct cell_place coarse_ghost(int i) {
  int x, y, z;
  if (i < COARSE_PLANES) {
    x = i % COARSE_SIDE, y = i / COARSE_SIDE % COARSE_SIDE;
    z = layer_beside(i / (COARSE_SIDE * COARSE_SIDE));
  } else if ((i -= COARSE_PLANES) < COARSE_ROWS) {
    x = i % COARSE_SIDE, y = layer_beside(i / COARSE_SIDE % (2 * COARSE_LAYERS));
    z = COARSE_LAYERS + i / (COARSE_SIDE * 2 * COARSE_LAYERS);
  } else {
    i -= COARSE_ROWS;
    x = layer_beside(i % (2 * COARSE_LAYERS));
    y = COARSE_LAYERS + i / (2 * COARSE_LAYERS) % COARSE_OWN;
    z = COARSE_LAYERS + i / (2 * COARSE_LAYERS * COARSE_OWN);
  }
  return {x + 1, y + 1, z + 1};
}

INLINE int place_in_block(const int *at) {
  return (at[2] * GAS_BLOCK_SIDE + at[1]) * GAS_BLOCK_SIDE + at[0];
}

/** Where child k of a coarser cell is in a block; -1: outside. @param lower  place of child 0 */
INLINE int place_of_child(struct place lower, int k) {
  bool inside = true;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    lower.at[c] += k >> c & 1;
    inside &= lower.at[c] >= 0 && lower.at[c] < GAS_BLOCK_SIDE;
  }
  return inside ? place_in_block(lower.at) : -1;
}

/** Write into blocks the cells that are interpolated from the coarser level: one thread a coarser cell, whose children
 * have most of the arithmetic in common.
 * @tparam CARRIED  write the variables that the gas carries, else those of the solver */
template <int V, bool CARRIED, typename real>
static __global__ void __launch_bounds__(COARSE_THREADS)
    interpolate(const __grid_constant__ sources<real> s, real *blocks) {
  const uint32_t thread = blockIdx.x * COARSE_THREADS + threadIdx.x;
  const uint32_t group = thread / COARSE_GHOSTS;
  if (group >= s.groups) return;
  const struct gas_links &l = s.links[group];
  const struct cell_place c = coarse_ghost((int)(thread % COARSE_GHOSTS));
  const struct place lower = {{2 * c.x - GAS_GHOSTS, 2 * c.y - GAS_GHOSTS, 2 * c.z - GAS_GHOSTS},
                              0};
  if (!is_interpolated(l, lower)) return;
  real *block = blocks + (size_t)group * s.c.variables * GAS_BLOCK_CELLS, child[8][V];
  int at[8];
  interpolation<V, real> i = slopes_of<V>(s, l, c.x, c.y, c.z);
  children_of(s.c, i, child);
#pragma unroll
  for (int k = 0; k < 8; k++) at[k] = place_of_child(lower, k);
  if constexpr (CARRIED) {
    for (int q = V; q < (int)s.c.variables; q++) {
      const carried_interpolation<real> carried = carried_of(s, l, q, c.x, c.y, c.z, i.least);
#pragma unroll
      for (int k = 0; k < 8; k++)
        if (at[k] >= 0) block[q * GAS_BLOCK_CELLS + at[k]] = carried_child(carried, k, child[k][0]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < 8; k++)
#pragma unroll
      for (int q = 0; q < V; q++)
        if (at[k] >= 0) block[q * GAS_BLOCK_CELLS + at[k]] = child[k][q];
  }
}

/** Where the values of a place are. */
template <typename real> struct source_cell {
  const real *first;
  int step;        /* from variable to variable */
  uint32_t negate; /* as in struct place */
};

/** The source of cell k of a thread: a near group's cell, or that which interpolate() has written into the block.
 * prepare() lets a cell of the block that is its own source be. prepare_carried() gives it the value that it has, also
 * while another thread reads it. */
template <typename real>
INLINE source_cell<real> source_of(const sources<real> &s, const column_part &part, int k,
                                   const real *blocks) {
  const struct gas_links &l = s.links[part.group];
  const struct place p = inside(l, s.reflecting, {{part.x, part.y, part.z + k}, 0}, GAS_GROUP_SIDE);
  const gas_link_t near = l.near[neighbour_at(p, GAS_GROUP_SIDE)];
  if (near == NO_GROUP)
    return {blocks + (size_t)part.group * s.c.variables * GAS_BLOCK_CELLS + place_in_block(p.at),
            GAS_BLOCK_CELLS, p.negate};
  return {group_of(s.c.variables, s.near, near) +
              place_in_group(p.at[0] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                             p.at[1] - GAS_GHOSTS & GAS_GROUP_SIDE - 1,
                             p.at[2] - GAS_GHOSTS & GAS_GROUP_SIDE - 1),
          GAS_GROUP_CELLS, p.negate};
}

/** The variables of the solver of a thread's cells. */
template <int V, typename real>
INLINE void read_cells(const source_cell<real> *from, real (*u)[V]) {
#pragma unroll
  for (int k = 0; k < PLANES; k++)
#pragma unroll
    for (int q = 0; q < V; q++) u[k][q] = from[k].first[q * from[k].step];
#pragma unroll
  for (int k = 0; k < PLANES; k++) negate<V>(from[k].negate, u[k]);
}

/** Write the variables of the solver into blocks. One warp a range of the cells' heat. */
template <int V, typename real>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    prepare(const __grid_constant__ sources<real> s, real *blocks, heat_range *heat) {
  const column_part part = part_of_thread();
  source_cell<real> from[PLANES];
  real u[PLANES][V];
  if (part.at < PLANE_CELLS) {
#pragma unroll
    for (int k = 0; k < PLANES; k++) from[k] = source_of(s, part, k, blocks);
    read_cells<V>(from, u);
    real *to = blocks + (size_t)part.group * s.c.variables * GAS_BLOCK_CELLS +
               part.z * PLANE_CELLS + part.at;
#pragma unroll
    for (int k = 0; k < PLANES; k++) {
      if (from[k].first == to + k * PLANE_CELLS) continue; /* interpolate() has written it */
#pragma unroll
      for (int q = 0; q < V; q++) to[q * GAS_BLOCK_CELLS + k * PLANE_CELLS] = u[k][q];
    }
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
  real *to = blocks + (size_t)part.group * s.c.variables * GAS_BLOCK_CELLS + part.z * PLANE_CELLS +
             part.at;
  for (int k = 0; k < PLANES; k++, to += PLANE_CELLS) {
    const source_cell<real> from = source_of(s, part, k, blocks);
    for (int q = V; q < (int)s.c.variables; q++)
      to[q * GAS_BLOCK_CELLS] = from.first[q * from.step];
  }
}

template <int V, typename real>
static void prepare_in(const struct gpu_gas *g, const struct gpu_sources *from, void *blocks,
                       heat_range *heat) {
  const sources<real> s = upload_sources<real>(g, from);
  const unsigned cuda_blocks = g->groups * BLOCKS_OF_GROUP,
                 coarse_blocks = blocks_for((uint64_t)g->groups * COARSE_GHOSTS, COARSE_THREADS);
  const bool carries = s.c.variables > V;
  if (from->coarse > 0)
    interpolate<V, false><<<coarse_blocks, COARSE_THREADS, 0, g->gpu->stream>>>(s, (real *)blocks);
  if (from->coarse > 0 && carries)
    interpolate<V, true><<<coarse_blocks, COARSE_THREADS, 0, g->gpu->stream>>>(s, (real *)blocks);
  prepare<V><<<cuda_blocks, BLOCK_THREADS, 0, g->gpu->stream>>>(s, (real *)blocks, heat);
  if (carries)
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
