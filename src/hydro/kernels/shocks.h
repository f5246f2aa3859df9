/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where strong shocks stand along the axes. HLLC sees contacts so sharply that it lets the sides of a shock
 * that moves along an axis grow bumps (the carbuncle). As Quirk 1994 (Int. J. Numer. Meth. Fluids 18, 555),
 * fluxes across the sides of strong shocks are those of HLL; also Sanders, Morano & Druguet 1998 (J. Comput.
 * Phys. 145, 511) take what decides from the other axes. */
#ifndef PHOTONS_HYDRO_KERNELS_SHOCKS_H
#define PHOTONS_HYDRO_KERNELS_SHOCKS_H

#include "real.h"

enum { PLANE_SIDE = GAS_BLOCK_SIDE * GAS_BLOCK_SIDE };

/* Part of the energy below which a thermal energy is mostly error. */
static const real heat_floor = (real)0.01;

/* Whether the pressure of any two cells of a block that may be neighbours differs by a factor of two. Ends of
 * rows are taken for neighbours, too. */
static bool may_have_shocks(const real *restrict block, real *restrict thermal) {
#pragma omp simd
  for (int i = 0; i < GAS_BLOCK_CELLS; i++)
    thermal[i] = thermal_energy(cell_at(block, GAS_BLOCK_CELLS, (size_t)i, false));
  real_bits any = 0;
#pragma omp simd reduction(| : any)
  for (int i = 0; i < GAS_BLOCK_CELLS - PLANE_SIDE; i++) {
    const real t = thermal[i], x = thermal[i + 1], y = thermal[i + GAS_BLOCK_SIDE],
               z = thermal[i + PLANE_SIDE];
    const real low = smallest(smallest(t, x), smallest(y, z)),
               high = largest(largest(t, x), largest(y, z));
    any |= high > 2 * low ? 1 : 0;
  }
  for (int i = GAS_BLOCK_CELLS - PLANE_SIDE; i < GAS_BLOCK_CELLS - GAS_BLOCK_SIDE; i++) {
    const real t = thermal[i], x = thermal[i + 1], y = thermal[i + GAS_BLOCK_SIDE];
    any |= largest(largest(t, x), y) > 2 * smallest(smallest(t, x), y) ? 1 : 0;
  }
  for (int i = GAS_BLOCK_CELLS - GAS_BLOCK_SIDE; i < GAS_BLOCK_CELLS - 1; i++)
    any |= largest(thermal[i], thermal[i + 1]) > 2 * smallest(thermal[i], thermal[i + 1]) ? 1 : 0;
  return any != 0;
}

/* Whether a strong shock is between cell i and the next one along an axis: the pressure differs by more than a
 * factor of two, by more than the thermal energy's error, and the gas converges. */
INLINE bool is_shock(const real *restrict block, const real *restrict thermal, int axis, int i,
                     int next) {
  const real *m = block + (GAS_MOMENTUM_X + axis) * GAS_BLOCK_CELLS,
             *energy = block + GAS_ENERGY * GAS_BLOCK_CELLS;
  const real low = smallest(thermal[i], thermal[next]), high = largest(thermal[i], thermal[next]);
  return (high - low > low) & (high - low > heat_floor * largest(energy[i], energy[next])) &
         (m[i] * block[next] > m[next] * block[i]);
}

/* Whether the thermal energy of any of n cells and of its next one differ by a factor of two. */
INLINE bool any_jump(const real *thermal, const real *next, int n) {
  real_bits any = 0;
#pragma omp simd reduction(| : any)
  for (int i = 0; i < n; i++) {
    const real low = smallest(thermal[i], next[i]), high = largest(thermal[i], next[i]);
    any |= high - low > low ? 1 : 0;
  }
  return any != 0;
}

/* Which cells have a strong shock between them and the next one along an axis, at `step`. That most planes have no
 * jump of the pressure is seen quickly. */
static void find_between(const real *restrict block, const real *restrict thermal, int axis,
                         int step, uint8_t *restrict between) {
  const int end = GAS_BLOCK_CELLS - step;
  memset(between, 0, GAS_BLOCK_CELLS);
  for (int first = 0; first < end; first += PLANE_SIDE) {
    const int n = end - first < PLANE_SIDE ? end - first : PLANE_SIDE;
    if (!any_jump(thermal + first, thermal + first + step, n)) continue;
#pragma omp simd
    for (int i = first; i < first + n; i++)
      between[i] = is_shock(block, thermal, axis, i, i + step) ? 1 : 0;
  }
}

/* The last cell of each row along an axis has no next one. */
static void clear_ends(int axis, uint8_t *restrict between) {
  if (axis == 0)
    for (int i = GAS_BLOCK_SIDE - 1; i < GAS_BLOCK_CELLS; i += GAS_BLOCK_SIDE) between[i] = 0;
  if (axis == 1)
    for (int z = 0; z < GAS_BLOCK_SIDE; z++)
      memset(between + (z + 1) * PLANE_SIDE - GAS_BLOCK_SIDE, 0, GAS_BLOCK_SIDE);
  if (axis == 2) memset(between + GAS_BLOCK_CELLS - PLANE_SIDE, 0, PLANE_SIDE);
}

/** Bit `axis` of shocks[z][y][x] says that a strong shock along the axis is at the cell.
 * thermal, between: scratch, [22^3]
 * @return whether there are any */
static bool find_shocks(const real *restrict block, real *restrict thermal,
                        uint8_t *restrict between, uint8_t *restrict shocks) {
  static const int steps[3] = {1, GAS_BLOCK_SIDE, PLANE_SIDE};
  if (!may_have_shocks(block, thermal)) return false;
  memset(shocks, 0, GAS_BLOCK_CELLS);
  uint8_t any = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int step = steps[axis];
    find_between(block, thermal, axis, step, between);
    clear_ends(axis, between);
#pragma omp simd reduction(| : any)
    for (int i = 0; i < GAS_BLOCK_CELLS; i++) any |= between[i];
#pragma omp simd
    for (int i = 0; i < GAS_BLOCK_CELLS; i++) shocks[i] |= (uint8_t)(between[i] << axis);
#pragma omp simd
    for (int i = step; i < GAS_BLOCK_CELLS; i++) shocks[i] |= (uint8_t)(between[i - step] << axis);
  }
  return any != 0;
}

#endif
