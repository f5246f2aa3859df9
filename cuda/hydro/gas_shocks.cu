/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where strong shocks stand along the axes: src/hydro/kernels/shocks.h for GPUs. */
#include "cuda/hydro/gpu_hydro.h"
#include "cuda/hydro/heat.cuh"

enum { SHOCK_THREADS = 512, ROW = GAS_BLOCK_SIDE, PLANE = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE };

/** Whether the thermal energies of two neighbours differ as in a strong shock. */
template <typename real> INLINE bool may_be_shock(real a, real b) {
  const real low = smaller(a, b), high = larger(a, b);
  return high - low > low;
}

/** What is_shock() asks of a cell. */
template <typename real> struct shock_cell { real density, momentum[3], energy, thermal; };

template <typename real> INLINE shock_cell<real> cell_at(const real *block, int i) {
  real u[5];
#pragma unroll
  for (int q = 0; q < 5; q++) u[q] = block[q * GAS_BLOCK_CELLS + i];
  return {u[0], {u[1], u[2], u[3]}, u[4], thermal_energy(u)};
}

/** Whether a strong shock is between a cell and the next one along an axis. */
template <typename real>
INLINE bool is_shock(const shock_cell<real> &cell, const shock_cell<real> &next, int axis) {
  return may_be_shock(cell.thermal, next.thermal) &
         (fabs(next.thermal - cell.thermal) > heat_floor(larger(cell.energy, next.energy))) &
         (cell.momentum[axis] * next.density > next.momentum[axis] * cell.density);
}

/** The sweeps that look at shocks along each axis. */
struct looks {
  int axes[3]; /* bits: those at which the sweep along each axis looks */
};

/** Mark a cell for the sweeps that look at shocks along `axis`. */
INLINE void mark_cell(uint32_t *columns, const looks &l, int axis, int x, int y, int z) {
  if (l.axes[0] >> axis & 1) atomicOr(&columns[z * ROW + y], 1u << x);
  if (l.axes[1] >> axis & 1) atomicOr(&columns[PLANE + z * ROW + x], 1u << y);
  if (l.axes[2] >> axis & 1) atomicOr(&columns[2 * PLANE + y * ROW + x], 1u << z);
}

/** The cell of range r of a block that a lane has; -1: the range ends with its plane. */
INLINE int cell_of_range(int r, int lane) {
  const int at = r % HEAT_RANGES_OF_PLANE * WARP + lane;
  return at < PLANE ? r / HEAT_RANGES_OF_PLANE * PLANE + at : -1;
}

/** Whether a strong shock may be at cells of range r of a block. Neighbours of its cells are in it, in those beside it
 * and in those of the next planes. heat: of all ranges */
INLINE bool may_have_shocks(const heat_range *heat, int r) {
  const int beside[2] = {1, HEAT_RANGES_OF_PLANE};
  heat_range near = heat[r];
#pragma unroll
  for (int k = 0; k < 2; k++) {
    if (r >= beside[k]) near = common_heat(near, heat[r - beside[k]]);
    if (r + beside[k] < HEAT_RANGES) near = common_heat(near, heat[r + beside[k]]);
  }
  return may_be_shock(heat[r], near);
}

/** One CUDA block a group. It takes little shared memory, so that it finds room beside the sweeps of another stream.
 * shocks: not written for groups that have none */
template <typename real>
static __global__ void __launch_bounds__(SHOCK_THREADS, 2)
    mark_shocks(const real *blocks, uint32_t variables, const heat_range *heat, looks look,
                uint32_t *shocks, uint32_t *any) {
  __shared__ uint32_t columns[3 * PLANE];
  __shared__ heat_range range[HEAT_RANGES];
  __shared__ uint16_t doubtful[HEAT_RANGES]; /* ranges that may have shocks, in any order */
  __shared__ int count;
  __shared__ bool found;
  const real *block = blocks + (size_t)blockIdx.x * variables * GAS_BLOCK_CELLS;
  if (threadIdx.x == 0) count = found = 0;
  for (int w = (int)threadIdx.x; w < HEAT_RANGES; w += SHOCK_THREADS)
    range[w] = heat ? heat[(size_t)blockIdx.x * HEAT_RANGES + w] : any_heat();
  for (int k = (int)threadIdx.x; k < 3 * PLANE; k += SHOCK_THREADS) columns[k] = 0;
  __syncthreads();
  for (int w = (int)threadIdx.x; w < HEAT_RANGES; w += SHOCK_THREADS)
    if (may_have_shocks(range, w)) doubtful[atomicAdd(&count, 1)] = (uint16_t)w;
  __syncthreads();
  for (int w = (int)threadIdx.x / WARP; w < count; w += SHOCK_THREADS / WARP) {
    const int i = cell_of_range(doubtful[w], (int)threadIdx.x % WARP);
    if (i < 0) continue;
    const int at[3] = {i % ROW, i / ROW % ROW, i / PLANE}, steps[3] = {1, ROW, PLANE};
    const shock_cell<real> cell = cell_at(block, i);
    shock_cell<real> next[3];
#pragma unroll
    for (int axis = 0; axis < 3; axis++) /* no shock is between a cell and itself */
      next[axis] = cell_at(block, at[axis] < ROW - 1 ? i + steps[axis] : i);
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
      if (!is_shock(cell, next[axis], axis)) continue;
      found = true;
      mark_cell(columns, look, axis, at[0], at[1], at[2]);
      mark_cell(columns, look, axis, at[0] + (axis == 0), at[1] + (axis == 1), at[2] + (axis == 2));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) any[blockIdx.x] = found;
  if (!found) return;
  for (int k = (int)threadIdx.x; k < 3 * PLANE; k += SHOCK_THREADS)
    shocks[(size_t)blockIdx.x * 3 * PLANE + k] = columns[k];
}

struct heat_range *gpu_gas_heat(const struct gpu_gas *g) {
  if (g->physics.solver == GAS_RTVD) return NULL;
  return (heat_range *)gpu_scratch(g->gpu, SCRATCH_HEAT,
                                   g->groups * HEAT_RANGES * sizeof(heat_range));
}

template <typename real>
static void mark_in(const struct gpu_gas *g, const void *blocks, const struct heat_range *heat,
                    const looks &look, uint32_t *shocks, uint32_t *any) {
  mark_shocks<<<g->groups, SHOCK_THREADS, 0, g->gpu->stream>>>(
      (const real *)blocks, gas_variables(&g->physics), heat, look, shocks, any);
  gpu_launched("mark_shocks");
}

void gpu_gas_mark_shocks(const struct gpu_gas *g, const void *blocks, const struct heat_range *heat,
                         const int axes[3], uint32_t *shocks, uint32_t *any) {
  const looks look = {{axes[0], axes[1], axes[2]}};
  if (g->double_precision)
    mark_in<double>(g, blocks, heat, look, shocks, any);
  else
    mark_in<float>(g, blocks, heat, look, shocks, any);
}
