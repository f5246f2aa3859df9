/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relaxing TVD scheme along one column of cells: src/hydro/kernels/rtvd.h for one thread. */
#ifndef PHOTONS_CUDA_HYDRO_RTVD_CUH
#define PHOTONS_CUDA_HYDRO_RTVD_CUH

#include "cuda/amr/real.cuh"

/** A solver that takes the 22 cells of a column one after the other, and gives the fluxes through
 * its 17 inner faces: flux k, between cells k + 2 and k + 3, as soon as it has cell k + 5. */
template <typename T> struct rtvd {
  typedef T real;
  /* DIFFUSES_SIDES: it looks for shocks. Its latest flux is that below cell i - BEHIND. TAKES_ALL_GHOSTS: a flux
   * needs three cells on each side. */
  enum { VARIABLES = 5, DIFFUSES_SIDES = 0, BEHIND = 2, TAKES_ALL_GHOSTS = 1 };
  /* Of the cells before the step: right of the latest but one, flux through its upper face. Of
   * those half a step later: the latest three and two. With fluxes of first order: the latest two cells but
   * one after the step, and the flux between them. */
  real right[5], lower[5], later_right[3][5], later_left[2][5];
  real safe[2][5], safe_flux[5];

  static __device__ __forceinline__ void moving_fluxes(const constants<real> &c, const real *u,
                                                       real *to_right, real *to_left) {
    const real volume = divide((real)1, u[0]), v = u[1] * volume;
    const real p = c.thermal *
                   (u[4] - (real)0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * volume);
    const real speed = fabs(v) + root(c.gamma * larger(p, (real)0) * volume);
    const real flux[5] = {u[1], u[1] * v + p, u[2] * v, u[3] * v, (u[4] + p) * v};
#pragma unroll
    for (int q = 0; q < 5; q++) {
      to_right[q] = (real)0.5 * (speed * u[q] + flux[q]);
      to_left[q] = (real)0.5 * (speed * u[q] - flux[q]);
    }
  }

  /* van Leer's limiter of two halved differences, from the differences */
  static __device__ __forceinline__ real limited_half(real a, real b) {
    return a * b > 0 ? divide(a * b, a + b) : (real)0;
  }

  /* Whether density and thermal energy are positive. */
  static __device__ __forceinline__ bool is_possible(const real *u) {
    return is_positive(u[0]) &&
           is_positive(u[0] * u[4] - (real)0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]));
  }

  /* Makes the flux one of first order where it may take more from a cell than it has: find_unsafe() of
   * src/hydro/kernels/rtvd.h. @return whether it did */
  __device__ __forceinline__ bool keep_positive(real dt_dh, real *flux) const {
    real low[5], high[5];
#pragma unroll
    for (int q = 0; q < 5; q++) {
      const real excess = 2 * dt_dh * (flux[q] - safe_flux[q]);
      low[q] = safe[0][q] - excess;
      high[q] = safe[1][q] + excess;
    }
    if (is_possible(low) && is_possible(high)) return false;
#pragma unroll
    for (int q = 0; q < 5; q++) flux[q] = safe_flux[q];
    return true;
  }

  /** @param beside  whether cells i - BEHIND - 1 or i - BEHIND are beside a strong shock along another axis
   * @param w  cells i - 3 to i. @param[out] flux number i - 5
   * @return whether it is of first order, since cells would not have stayed positive */
  __device__ __forceinline__ bool take(const constants<real> &c, real dt_dh, int i, bool,
                                       const real (*w)[VARIABLES], real *flux) {
    real new_right[5], new_left[5], middle[5], new_safe[5], new_safe_flux[5];
    moving_fluxes(c, w[3], new_right, new_left);
#pragma unroll
    for (int q = 0; q < 5; q++) {
      const real upper = right[q] - new_left[q];
      middle[q] = w[2][q] - (real)0.5 * dt_dh * (upper - lower[q]);
      new_safe[q] = 2 * middle[q] - w[2][q];
      new_safe_flux[q] = lower[q];
      lower[q] = upper;
      right[q] = new_right[q];
    }
    moving_fluxes(c, middle, new_right, new_left);
#pragma unroll
    for (int q = 0; q < 5; q++) {
      const real from_below = later_right[1][q], from_above = later_left[1][q];
      flux[q] = from_below +
                limited_half(from_below - later_right[0][q], later_right[2][q] - from_below) -
                (from_above -
                 limited_half(new_left[q] - from_above, from_above - later_left[0][q]));
      later_right[0][q] = later_right[1][q];
      later_right[1][q] = later_right[2][q];
      later_right[2][q] = new_right[q];
      later_left[0][q] = later_left[1][q];
      later_left[1][q] = new_left[q];
    }
    const bool falls_back = i >= 5 && keep_positive(dt_dh, flux);
#pragma unroll
    for (int q = 0; q < 5; q++) {
      safe[0][q] = safe[1][q];
      safe[1][q] = new_safe[q];
      safe_flux[q] = new_safe_flux[q];
    }
    return falls_back;
  }
};

#endif
