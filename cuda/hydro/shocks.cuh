/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where strong shocks stand along the axes: src/hydro/kernels/shocks.h for GPUs. */
#ifndef PHOTONS_CUDA_HYDRO_SHOCKS_CUH
#define PHOTONS_CUDA_HYDRO_SHOCKS_CUH

#include "cuda/amr/real.cuh"

enum { SHOCK_THREADS = 256 };

/** What is_shock() needs of a cell. */
template <typename real> struct shock_cell { real density, momentum, energy, thermal; };

template <typename real>
INLINE shock_cell<real> shock_cell_at(const real *block, int axis, int i) {
  real u[5];
  for (int q = 0; q < 5; q++) u[q] = block[q * GAS_BLOCK_CELLS + i];
  return {u[0], u[1 + axis], u[4], thermal_energy(u)};
}

/** Whether a strong shock is between two neighbours; b is the further one along the axis. */
template <typename real> INLINE bool is_shock(const shock_cell<real> &a, const shock_cell<real> &b) {
  const real low = smaller(a.thermal, b.thermal), high = larger(a.thermal, b.thermal);
  return high - low > low && high - low > (real)0.01 * larger(a.energy, b.energy) &&
         a.momentum * b.density > b.momentum * a.density;
}

/** shocks: [group][z][y][x], bit `axis` says that a strong shock along the axis is at the cell; any: [group],
 * which is 0 before, whether there is one */
template <int V, typename real>
__global__ void mark_shocks(uint32_t groups, const real *blocks, uint8_t *shocks, uint32_t *any) {
  const uint32_t thread = blockIdx.x * SHOCK_THREADS + threadIdx.x;
  if (thread >= groups * GAS_BLOCK_CELLS) return;
  const uint32_t group = thread / GAS_BLOCK_CELLS;
  const int i = (int)(thread % GAS_BLOCK_CELLS);
  const real *block = blocks + (size_t)group * V * GAS_BLOCK_CELLS;
  int step = 1, found = 0;
  for (int axis = 0; axis < 3; axis++, step *= GAS_BLOCK_SIDE) {
    const int place = i / step % GAS_BLOCK_SIDE;
    const shock_cell<real> here = shock_cell_at(block, axis, i);
    const bool above = place < GAS_BLOCK_SIDE - 1 &&
                       is_shock(here, shock_cell_at(block, axis, i + step));
    const bool below = place > 0 && is_shock(shock_cell_at(block, axis, i - step), here);
    found |= (above || below) << axis;
  }
  shocks[thread] = (uint8_t)found;
  if (found) any[group] = 1;
}

#endif
