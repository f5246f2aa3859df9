/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep of the variables that the gas carries, src/hydro/kernels/carried.h: one thread a column of one of
 * them, after the solver's sweep has left the mass fluxes. */
#ifndef PHOTONS_CUDA_HYDRO_CARRY_CUH
#define PHOTONS_CUDA_HYDRO_CARRY_CUH

#include "cuda/hydro/sweep_of.cuh"

template <typename real> INLINE real carried_slope(real below, real here, real above) {
  const real a = here - below, b = above - here;
  return a * b > 0 ? 2 * divide(a * b, a + b) : (real)0;
}

/** Two cells beside a face, with those beyond. */
template <typename real> struct carried_cells { real density[4], own[4], fraction[4]; };

template <typename real>
INLINE real carried_flux(real dt_dh, real mass, const carried_cells<real> &w) {
  const bool right = mass >= 0;
  const real part = divide(dt_dh * fabs(mass), right ? w.density[1] : w.density[2]);
  const real half = (real)0.5 * larger((real)1 - part, (real)0);
  const real upper = w.fraction[1] +
                     half * carried_slope(w.fraction[0], w.fraction[1], w.fraction[2]);
  const real lower = w.fraction[2] -
                     half * carried_slope(w.fraction[1], w.fraction[2], w.fraction[3]);
  return mass * (right ? upper : lower);
}

/** @param first  of the carried variables; the grid's y counts them */
template <int AXIS, typename real>
static __global__ void __launch_bounds__(SWEEP_THREADS)
    carry(const __grid_constant__ sweep<real> s, uint32_t first) {
  constexpr int FAST = AXIS == 0 ? 1 : 0, SLOW = AXIS == 2 ? 1 : 2;
  const int m[3] = {AXIS == 0 ? GAS_GROUP_SIDE : s.n[0], AXIS == 1 ? GAS_GROUP_SIDE : s.n[1],
                    AXIS == 2 ? GAS_GROUP_SIDE : s.n[2]};
  const int step[3] = {1, s.n[0], s.n[0] * s.n[1]}, step_after[3] = {1, m[0], m[0] * m[1]};
  const int columns = s.n[FAST] * s.n[SLOW], cells = columns * s.n[AXIS],
            left = columns * GAS_GROUP_SIDE;
  const uint32_t thread = blockIdx.x * SWEEP_THREADS + threadIdx.x, q = first + blockIdx.y;
  const uint32_t group = thread / (uint32_t)columns;
  const int column = (int)(thread % (uint32_t)columns), fast = column % s.n[FAST],
            slow = column / s.n[FAST];
  if (group >= s.groups) return;
  const struct across at = {fast - (s.n[FAST] - GAS_GROUP_SIDE) / 2,
                            slow - (s.n[SLOW] - GAS_GROUP_SIDE) / 2};
  const real *density = s.from + (size_t)group * s.variables * cells + fast * step[FAST] +
                        slow * step[SLOW],
             *own = density + (size_t)q * cells,
             *mass = s.mass + (size_t)group * FACES_OF_COLUMN * columns + column;
  real *to = s.to + ((size_t)group * s.variables + q) * left,
       *faces = fluxes_of(s, group) + q * GAS_FACE_CELLS, lower = 0;
  carried_cells<real> w = {};
  for (int i = 1; i < GAS_BLOCK_SIDE - 1; i++) {
#pragma unroll
    for (int k = 0; k < 3; k++) {
      w.density[k] = w.density[k + 1];
      w.own[k] = w.own[k + 1];
      w.fraction[k] = w.fraction[k + 1];
    }
    w.density[3] = density[i * step[AXIS]];
    w.own[3] = own[i * step[AXIS]];
    w.fraction[3] = divide(w.own[3], w.density[3]);
    const int face = i - 4;
    if (face < 0) continue;
    const real flux = carried_flux(s.dt_dh, mass[face * columns], w);
    if (face % GAS_PATCH_SIDE == 0)
      if (s.faces >> face / GAS_PATCH_SIDE & 1)
        store_face<AXIS, 1>(faces, s.variables, at, face / GAS_PATCH_SIDE, &flux);
    if (face > 0) {
      const real after = w.own[1] - s.dt_dh * (flux - lower);
      int place = fast * step_after[FAST] + slow * step_after[SLOW] + (face - 1) * step_after[AXIS];
      if (s.last) {
        int cell[3];
        cell[FAST] = fast;
        cell[SLOW] = slow;
        cell[AXIS] = face - 1;
        place = place_in_group(cell[0], cell[1], cell[2]);
        if (!isfinite(after)) atomicMax(&s.fault[group], ~(uint32_t)place);
      }
      to[place] = after;
    }
    lower = flux;
  }
}

template <int AXIS, typename real>
void launch_carry(struct gpu *gpu, uint32_t first, const sweep<real> &s) {
  const uint32_t columns = s.groups * (uint32_t)(s.n[0] * s.n[1] * s.n[2] / GAS_BLOCK_SIDE);
  const dim3 grid(blocks_for(columns, SWEEP_THREADS), s.variables - first);
  carry<AXIS><<<grid, SWEEP_THREADS, 0, gpu->stream>>>(s, first);
  gpu_launched("carry");
}

#endif
