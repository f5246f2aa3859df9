/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The range of thermal energies in each warp of a block's cells. It says where no strong shock can be, so that
 * most cells are not looked at for shocks. */
#ifndef PHOTONS_CUDA_HYDRO_HEAT_CUH
#define PHOTONS_CUDA_HYDRO_HEAT_CUH

#include "cuda/amr/real.cuh"
#include "cuda/hydro/gpu_hydro.h"

/** Part of the energy below which a thermal energy is mostly error. */
template <typename real> INLINE real heat_floor(real energy) { return (real)0.01 * energy; }

/** That of no cell. */
INLINE heat_range no_heat() { return {INFINITY, 0}; }
/** That of cells of which nothing is known. */
INLINE heat_range any_heat() { return {0, INFINITY}; }

/** That of one cell, of whose thermal energy nothing follows where it is not positive. */
template <typename real> INLINE heat_range heat_of(const real *u) {
  const real thermal = thermal_energy(u), floor = heat_floor(u[4]);
  if (!(thermal > 0)) return any_heat();
  return {(float)(thermal + larger(thermal, floor)),
          thermal > (real)0.99 * floor ? (float)thermal : 0.0f};
}

INLINE heat_range common_heat(heat_range a, heat_range b) {
  return {smaller(a.least, b.least), larger(a.most, b.most)};
}

/** That of the cells of a warp, from that of each lane. Positive numbers sort as their bits. */
INLINE heat_range warp_heat(heat_range a) {
  return {__int_as_float((int)warp_min((uint32_t)__float_as_int(a.least))),
          __int_as_float((int)warp_max((uint32_t)__float_as_int(a.most)))};
}

/** Whether a strong shock, as is_shock() has it, may be between a cell of `a` and one of `b`. In a shock the
 * thermal energy of one cell is above twice that of the other, and above it by more than the floor of either; a
 * hundredth is far more than rounding. */
INLINE bool may_be_shock(heat_range a, heat_range b) {
  return a.most >= 0.99f * b.least || b.most >= 0.99f * a.least;
}

#endif
