/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MUSCL-Hancock along one column of cells: src/hydro/kernels/muscl.h for one thread. */
#ifndef PHOTONS_CUDA_HYDRO_MUSCL_CUH
#define PHOTONS_CUDA_HYDRO_MUSCL_CUH

#include "cuda/hydro/riemann.cuh"

template <int LIMITER, typename real> INLINE real limited_slope(real theta, real a, real b) {
  if (LIMITER == GAS_LIMITER_VAN_LEER) return a * b > 0 ? 2 * divide(a * b, a + b) : (real)0;
  const real size = smaller(theta * smaller(fabs(a), fabs(b)), (real)0.5 * fabs(a + b));
  return a * b > 0 ? copysign(size, a) : (real)0;
}

/* State s after half a time step in which it changes by d over a cell. */
template <typename real>
INLINE void half_step_state(real gamma, real half_dt_dh, const real *s, const real *d,
                            real *middle) {
  const real v = half_dt_dh * s[ALONG];
  middle[0] = s[0] - (v * d[0] + half_dt_dh * s[0] * d[ALONG]);
  middle[1] = s[1] - (v * d[1] + half_dt_dh * divide(d[PRESSURE], s[0]));
  middle[2] = s[2] - v * d[2];
  middle[3] = s[3] - v * d[3];
  middle[PRESSURE] = s[PRESSURE] - (v * d[PRESSURE] + half_dt_dh * gamma * s[PRESSURE] * d[ALONG]);
  middle[ENTROPY] = s[ENTROPY] - v * d[ENTROPY];
}

/** See rtvd.cuh for how a solver is used. */
template <typename T, int LIMITER> struct muscl {
  typedef T real;
  enum { VARIABLES = 6, DIFFUSES_SIDES = 1, BEHIND = 1, TAKES_ALL_GHOSTS = 0 };
  real below[6], here[6]; /* primitive variables of the latest two cells */
  real upper[6];          /* state at the upper face of the latest but one */
  real latest[6];         /* flux of second order */
  bool unphysical;        /* the cell below that flux, after the step */

  /** The states of cell `here` at its faces after half a step; where one of them has no positive
   * density or pressure, both are the cell's state before the step. */
  __device__ __forceinline__ void face_states(const constants<real> &c, real dt_dh,
                                              const real *above, real *low, real *high) const {
    real d[6], middle[6];
#pragma unroll
    for (int q = 0; q < 6; q++)
      d[q] = limited_slope<LIMITER>(c.minmod, here[q] - below[q], above[q] - here[q]);
    half_step_state(c.gamma, (real)0.5 * dt_dh, here, d, middle);
    const bool good = middle[0] > (real)0.5 * fabs(d[0]) &&
                      middle[PRESSURE] > (real)0.5 * fabs(d[PRESSURE]);
#pragma unroll
    for (int q = 0; q < 6; q++) {
      low[q] = good ? middle[q] - (real)0.5 * d[q] : here[q];
      high[q] = good ? middle[q] + (real)0.5 * d[q] : here[q];
    }
  }

  __device__ __forceinline__ bool take(const constants<real> &c, real dt_dh, int i, bool beside,
                                       const real (*w)[VARIABLES], real *flux) {
    real above[6], low[6], high[6], next[6], after[6];
    primitive_variables(c, w[3], above);
    face_states(c, dt_dh, above, low, high);
    hllc(c, upper, low, next);
    if (beside) hll(c, upper, low, next);
#pragma unroll
    for (int q = 0; q < 6; q++) {
      after[q] = w[1][q] - dt_dh * (next[q] - latest[q]);
      flux[q] = latest[q];
    }
    const bool bad = !is_physical<6>(c, after), falls_back = (bad || unphysical) && i >= 5;
    /* Fluxes of first order take the place of those next to a cell that would not be physical. */
    if (falls_back) first_order_flux(c, w[0], w[1], flux);
    unphysical = bad;
#pragma unroll
    for (int q = 0; q < 6; q++) {
      latest[q] = next[q];
      upper[q] = high[q];
      below[q] = here[q];
      here[q] = above[q];
    }
    return falls_back;
  }
};

#endif
