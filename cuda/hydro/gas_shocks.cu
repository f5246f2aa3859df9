/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where strong shocks stand along the axes: src/hydro/kernels/shocks.h for GPUs. */
#include "cuda/hydro/gpu_hydro.h"
#include "cuda/hydro/heat.cuh"

enum {
  SHOCK_THREADS = 256,
  ROW = GAS_BLOCK_SIDE,
  PLANE = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE,
  WARPS_OF_PLANE = PLANE / WARP /* as many warps on, or one more, is a cell's neighbour along z */
};

/** What is_shock() needs of a cell. */
template <typename real> struct shock_cell { real density, momentum[3], energy, thermal; };

template <typename real> INLINE shock_cell<real> shock_cell_at(const real *block, int i) {
  real u[5];
#pragma unroll
  for (int q = 0; q < 5; q++) u[q] = block[q * GAS_BLOCK_CELLS + i];
  return {u[0], {u[1], u[2], u[3]}, u[4], thermal_energy(u)};
}

/** Whether a strong shock is between two neighbours; b is the further one along the axis. */
template <typename real>
INLINE bool is_shock(const shock_cell<real> &a, const shock_cell<real> &b, int axis) {
  const real low = smaller(a.thermal, b.thermal), high = larger(a.thermal, b.thermal);
  return high - low > low && high - low > heat_floor(larger(a.energy, b.energy)) &&
         a.momentum[axis] * b.density > b.momentum[axis] * a.density;
}

/** The axes along which a strong shock is at a cell. */
template <typename real> INLINE int shocks_at(const real *block, int i) {
  const int at[3] = {i % ROW, i / ROW % ROW, i / PLANE}, step[3] = {1, ROW, PLANE};
  const shock_cell<real> here = shock_cell_at(block, i);
  int found = 0;
#pragma unroll
  for (int axis = 0; axis < 3; axis++) {
    const bool below = at[axis] > 0 && is_shock(shock_cell_at(block, i - step[axis]), here, axis),
               above = at[axis] < ROW - 1 &&
                       is_shock(here, shock_cell_at(block, i + step[axis]), axis);
    found |= (below || above) << axis;
  }
  return found;
}

/** Whether a strong shock may be at cells of warp w of a block. heat: of all its warps */
INLINE bool may_have_shocks(const heat_range *heat, int w) {
  const int beside[4] = {0, 1, WARPS_OF_PLANE, WARPS_OF_PLANE + 1};
  heat_range near = no_heat();
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if (w >= beside[k]) near = common_heat(near, heat[w - beside[k]]);
    if (w + beside[k] < HEAT_RANGES) near = common_heat(near, heat[w + beside[k]]);
  }
  return may_be_shock(heat[w], near);
}

/** One CUDA block a group. Its warps look at the cells of those warps that may have shocks.
 * shocks: not written for groups that can have none; any: 0 before */
template <typename real>
static __global__ void __launch_bounds__(SHOCK_THREADS)
    mark_shocks(const real *blocks, uint32_t variables, const heat_range *heat, uint8_t *shocks,
                uint32_t *any) {
  __shared__ heat_range range[HEAT_RANGES];
  __shared__ bool doubtful[HEAT_RANGES], any_doubt;
  const real *block = blocks + (size_t)blockIdx.x * variables * GAS_BLOCK_CELLS;
  uint8_t *mark = shocks + (size_t)blockIdx.x * GAS_BLOCK_CELLS;
  if (threadIdx.x == 0) any_doubt = false;
  for (int w = (int)threadIdx.x; w < HEAT_RANGES; w += SHOCK_THREADS)
    range[w] = heat ? heat[(size_t)blockIdx.x * HEAT_RANGES + w] : any_heat();
  __syncthreads();
  for (int w = (int)threadIdx.x; w < HEAT_RANGES; w += SHOCK_THREADS) {
    doubtful[w] = may_have_shocks(range, w);
    if (doubtful[w]) any_doubt = true;
  }
  __syncthreads();
  if (!any_doubt) return;
  int found = 0;
  for (int i = (int)threadIdx.x; i < GAS_BLOCK_CELLS; i += SHOCK_THREADS) {
    const int here = doubtful[i / WARP] ? shocks_at(block, i) : 0;
    mark[i] = (uint8_t)here;
    found |= here;
  }
  if (found) any[blockIdx.x] = 1;
}

struct heat_range *gpu_gas_heat(const struct gpu_gas *g) {
  if (g->physics.solver == GAS_RTVD) return NULL;
  return (heat_range *)gpu_scratch(g->gpu, SCRATCH_HEAT,
                                   g->groups * HEAT_RANGES * sizeof(heat_range));
}

template <typename real>
static void mark_in(const struct gpu_gas *g, const void *blocks, const struct heat_range *heat,
                    uint8_t *shocks, uint32_t *any) {
  mark_shocks<<<g->groups, SHOCK_THREADS, 0, g->gpu->stream>>>(
      (const real *)blocks, gas_variables(&g->physics), heat, shocks, any);
  gpu_launched("mark_shocks");
}

void gpu_gas_mark_shocks(const struct gpu_gas *g, const void *blocks, const struct heat_range *heat,
                         uint8_t *shocks, uint32_t *any) {
  CHECK_CUDA(cudaMemsetAsync(any, 0, g->groups * sizeof *any, g->gpu->stream));
  if (g->double_precision)
    mark_in<double>(g, blocks, heat, shocks, any);
  else
    mark_in<float>(g, blocks, heat, shocks, any);
}
