/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where strong shocks stand along the axes: src/hydro/kernels/shocks.h for GPUs. */
#ifndef PHOTONS_CUDA_HYDRO_SHOCKS_CUH
#define PHOTONS_CUDA_HYDRO_SHOCKS_CUH

#include "cuda/amr/real.cuh"

enum { SHOCK_PLANE = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE, SHOCK_THREADS = 512 };

/** A plane of a block, as it is looked at for shocks. */
template <typename real> struct shock_plane {
  real density[SHOCK_PLANE], momentum[2][SHOCK_PLANE], energy[SHOCK_PLANE], thermal[SHOCK_PLANE];
};

/** What is_shock() needs of a cell. */
template <typename real> struct shock_cell { real density, momentum, energy, thermal; };

template <typename real>
INLINE shock_cell<real> shock_cell_at(const shock_plane<real> &p, int axis, int i) {
  return {p.density[i], p.momentum[axis][i], p.energy[i], p.thermal[i]};
}

/** Whether a strong shock is between two neighbours; b is the further one along the axis. */
template <typename real>
INLINE bool is_shock(const shock_cell<real> &a, const shock_cell<real> &b) {
  const real low = smaller(a.thermal, b.thermal), high = larger(a.thermal, b.thermal);
  return high - low > low && high - low > (real)0.01 * larger(a.energy, b.energy) &&
         a.momentum * b.density > b.momentum * a.density;
}

/** Shocks between a cell of a plane and its neighbours along x (axis 0) or y. */
template <typename real>
INLINE bool in_plane(const shock_plane<real> &p, int axis, int i, int place, int step) {
  const shock_cell<real> here = shock_cell_at(p, axis, i);
  return (place < GAS_BLOCK_SIDE - 1 && is_shock(here, shock_cell_at(p, axis, i + step))) ||
         (place > 0 && is_shock(shock_cell_at(p, axis, i - step), here));
}

/** One CUDA block a group, one thread a cell of a plane, plane by plane, so that each cell is read once.
 * shocks: [group][z][y][x], bit `axis` says that a strong shock along the axis is at the cell; any: [group],
 * which is 0 before, whether there is one */
template <typename real>
__global__ void __launch_bounds__(SHOCK_THREADS)
    mark_shocks(const real *blocks, uint32_t variables, uint8_t *shocks, uint32_t *any) {
  __shared__ shock_plane<real> planes[2];
  const int i = (int)threadIdx.x, x = i % GAS_BLOCK_SIDE, y = i / GAS_BLOCK_SIDE;
  const real *block = blocks + (size_t)blockIdx.x * variables * GAS_BLOCK_CELLS + i;
  uint8_t *mark = shocks + (size_t)blockIdx.x * GAS_BLOCK_CELLS + i;
  shock_cell<real> below = {};
  int found_below = 0, found_any = 0;
  for (int z = 0; z < GAS_BLOCK_SIDE; z++) {
    shock_plane<real> &p = planes[z % 2];
    real u[5];
    if (i < SHOCK_PLANE) {
      for (int q = 0; q < 5; q++) u[q] = block[q * GAS_BLOCK_CELLS + z * SHOCK_PLANE];
      p.density[i] = u[0];
      p.momentum[0][i] = u[1];
      p.momentum[1][i] = u[2];
      p.energy[i] = u[4];
      p.thermal[i] = thermal_energy(u);
    }
    __syncthreads();
    if (i >= SHOCK_PLANE) continue;
    const shock_cell<real> here = {u[0], u[3], u[4], p.thermal[i]};
    int found = (in_plane(p, 0, i, x, 1) ? 1 : 0) | (in_plane(p, 1, i, y, GAS_BLOCK_SIDE) ? 2 : 0);
    if (z > 0) {
      const int across = is_shock(below, here) ? 4 : 0;
      mark[(z - 1) * SHOCK_PLANE] = (uint8_t)(found_below | across);
      found |= across;
    }
    found_any |= found;
    found_below = found;
    below = here;
  }
  if (i < SHOCK_PLANE) mark[(GAS_BLOCK_SIDE - 1) * SHOCK_PLANE] = (uint8_t)found_below;
  if (found_any) any[blockIdx.x] = 1;
}

#endif
