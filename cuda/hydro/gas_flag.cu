/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which patches are to be refined: src/hydro/kernels/flags.h. One block a group. */
#include "cuda/amr/real.cuh"
#include "cuda/hydro/gpu_hydro.h"

enum { FLAG_THREADS = 256 };

template <int V, typename real>
static __global__ void __launch_bounds__(FLAG_THREADS)
    pressures(const __grid_constant__ constants<real> c, uint32_t cells, const real *blocks,
              real *pressure) {
  const uint32_t i = blockIdx.x * FLAG_THREADS + threadIdx.x;
  if (i >= cells) return;
  const real *from = blocks + (size_t)(i / GAS_BLOCK_CELLS) * c.variables * GAS_BLOCK_CELLS +
                     i % GAS_BLOCK_CELLS;
  real u[V];
#pragma unroll
  for (int q = 0; q < V; q++) u[q] = from[q * GAS_BLOCK_CELLS];
  pressure[i] = pressure_of<V>(c, u);
}

enum { STEP_Y = GAS_BLOCK_SIDE, STEP_Z = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE };

template <typename real> INLINE real relative_gradient(const real *u) {
  const real x = fabs(u[1] - u[-1]), y = fabs(u[STEP_Y] - u[-STEP_Y]),
             z = fabs(u[STEP_Z] - u[-STEP_Z]);
  return (real)0.5 * larger(larger(x, y), z) / u[0];
}

template <typename real> INLINE real loehner_estimate(const real *u, real filter) {
  const int step[3] = {1, STEP_Y, STEP_Z};
  real second = 0, first = 0;
#pragma unroll
  for (int p = 0; p < 3; p++)
#pragma unroll
    for (int q = 0; q < 3; q++) {
      const real *after = u + step[q], *before = u - step[q];
      const real change_after = after[step[p]] - after[-step[p]],
                 change_before = before[step[p]] - before[-step[p]];
      const real size = fabs(after[step[p]]) + fabs(after[-step[p]]) + fabs(before[step[p]]) +
                        fabs(before[-step[p]]);
      const real change = change_after - change_before,
                 sum = fabs(change_after) + fabs(change_before) + filter * size;
      second += change * change;
      first += sum * sum;
    }
  return first > 0 ? (real)sqrt(second / first) : (real)0;
}

/** Bits 0, 1, 2 for directions -1, 0, 1 that a cell at `place` of a patch's side reaches. */
INLINE uint32_t directions(int place, int buffer) {
  return (place < buffer ? 1u : 0u) | 2u | (place >= GAS_PATCH_SIDE - buffer ? 4u : 0u);
}

/** The mask of the neighbours that a cell of a patch reaches. */
INLINE uint32_t reach(int cell, int buffer) {
  const uint32_t of_x = directions(cell % 8, buffer), of_y = directions(cell / 8 % 8, buffer),
                 of_z = directions(cell / 64, buffer);
  uint32_t mask = 0;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 3; y++)
      if ((of_z >> z & 1) && (of_y >> y & 1)) mask |= of_x << (3 * y + 9 * z);
  return mask;
}

/** @param more  density of particles; -INFINITY: there are none */
template <typename real>
INLINE bool is_flagged(const struct gas_flags &f, const real *density, const real *pressure,
                       double more) {
  const real filter = (real)f.loehner_filter;
  return (f.density > 0 &&
          (density[0] > (real)f.density || (double)density[0] + more > f.density)) ||
         (f.particles > 0 && more > f.particles) ||
         (f.gradient_density > 0 && relative_gradient(density) >= (real)f.gradient_density) ||
         (f.gradient_pressure > 0 && relative_gradient(pressure) >= (real)f.gradient_pressure) ||
         (f.loehner > 0 && (loehner_estimate(density, filter) >= (real)f.loehner ||
                            loehner_estimate(pressure, filter) >= (real)f.loehner));
}

template <typename real>
static __global__ void __launch_bounds__(FLAG_THREADS)
    flag_cells(const __grid_constant__ struct gas_flags f, int variables, int buffer,
               const real *blocks, const real *pressure, const struct gas_matter *matter,
               uint32_t (*flags)[GAS_PATCHES]) {
  __shared__ uint32_t mask[GAS_PATCHES];
  if (threadIdx.x < GAS_PATCHES) mask[threadIdx.x] = 0;
  __syncthreads();
  const real *density = blocks + (size_t)blockIdx.x * variables * GAS_BLOCK_CELLS,
             *of_block = pressure + (size_t)blockIdx.x * GAS_BLOCK_CELLS;
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += FLAG_THREADS) {
    const int patch = i / GAS_PATCH_CELLS, cell = i % GAS_PATCH_CELLS;
    const struct cell_place c = place_of_cell(i);
    const int at = GAS_GHOSTS + c.x + (GAS_GHOSTS + c.y) * STEP_Y + (GAS_GHOSTS + c.z) * STEP_Z,
              inner = (c.z * GAS_GROUP_SIDE + c.y) * GAS_GROUP_SIDE + c.x;
    const double more = matter ? matter[blockIdx.x].coarse[inner] + matter[blockIdx.x].fine[inner]
                               : -INFINITY;
    if (is_flagged(f, density + at, of_block + at, more))
      atomicOr(&mask[patch], reach(cell, buffer));
  }
  __syncthreads();
  if (threadIdx.x < GAS_PATCHES) flags[blockIdx.x][threadIdx.x] = mask[threadIdx.x];
}

template <int V, typename real>
static void flag_in(const struct gpu_gas *g, const struct gas_flags *criteria, int buffer,
                    const void *blocks, const struct gas_matter *matter,
                    uint32_t (*flags)[GAS_PATCHES]) {
  const uint32_t cells = g->groups * GAS_BLOCK_CELLS;
  real *pressure = (real *)gpu_scratch(g->gpu, SCRATCH_LINES, cells * sizeof *pressure);
  pressures<V><<<blocks_for(cells, FLAG_THREADS), FLAG_THREADS, 0, g->gpu->stream>>>(
      constants_of<real>(&g->physics), cells, (const real *)blocks, pressure);
  flag_cells<<<g->groups, FLAG_THREADS, 0, g->gpu->stream>>>(
      *criteria, (int)gas_variables(&g->physics), buffer, (const real *)blocks, pressure, matter,
      flags);
  gpu_launched("flag");
}

void gpu_gas_flag(const struct gpu_gas *g, const struct gas_flags *criteria, int buffer,
                  const void *blocks, const struct gas_matter *matter,
                  uint32_t (*flags)[GAS_PATCHES]) {
  const bool five = g->physics.solver == GAS_RTVD;
  if (g->double_precision)
    five ? flag_in<5, double>(g, criteria, buffer, blocks, matter, flags)
         : flag_in<6, double>(g, criteria, buffer, blocks, matter, flags);
  else
    five ? flag_in<5, float>(g, criteria, buffer, blocks, matter, flags)
         : flag_in<6, float>(g, criteria, buffer, blocks, matter, flags);
}
