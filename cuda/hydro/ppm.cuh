/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The piecewise parabolic method along one column of cells: src/hydro/kernels/ppm.h for one thread. */
#ifndef PHOTONS_CUDA_HYDRO_PPM_CUH
#define PHOTONS_CUDA_HYDRO_PPM_CUH

#include "cuda/hydro/muscl.cuh"

/** Of a cell: the speed of sound c, density times c, its inverse, and 1/c^2. */
template <typename real> struct sound { real speed, impedance, inverse, square; };

template <typename real> INLINE sound<real> sound_of(real gamma, const real *w) {
  const real speed = root(gamma * divide(w[PRESSURE], w[0])), impedance = w[0] * speed;
  const real inverse = divide((real)1, impedance), slowness = w[0] * inverse;
  return {speed, impedance, inverse, slowness * slowness};
}

template <typename real> INLINE real ppm_slope(real a, real b) {
  return limited_slope<GAS_LIMITER_MINMOD>((real)2, a, b);
}

/* The change over a cell is limited for each wave. */
template <typename real>
INLINE void wave_slopes(const sound<real> &s, const real *below, const real *w, const real *above,
                        real *slope) {
  real a[6], b[6];
#pragma unroll
  for (int q = 0; q < 6; q++) {
    a[q] = w[q] - below[q];
    b[q] = above[q] - w[q];
    slope[q] = ppm_slope(a[q], b[q]);
  }
  const real left = ppm_slope(a[PRESSURE] - s.impedance * a[ALONG],
                              b[PRESSURE] - s.impedance * b[ALONG]),
             right = ppm_slope(a[PRESSURE] + s.impedance * a[ALONG],
                               b[PRESSURE] + s.impedance * b[ALONG]),
             contact = ppm_slope(a[0] - s.square * a[PRESSURE], b[0] - s.square * b[PRESSURE]);
  slope[PRESSURE] = (real)0.5 * (left + right);
  slope[ALONG] = (real)0.5 * (right - left) * s.inverse;
  slope[0] = contact + s.square * slope[PRESSURE];
}

/* A value at the face between two cells, never beyond those of the cells. */
template <typename real> INLINE real edge_between(real a, real b, real slope_a, real slope_b) {
  const real middle = (real)0.5 * (a + b) - (slope_b - slope_a) * (1 / (real)6);
  return smaller(larger(middle, smaller(a, b)), larger(a, b));
}

/* How much a cell looks like a contact, 0 to 1. low, high: pressures of the cells beside it */
template <typename real> INLINE real steepness(real gamma, const real rho[5], real low, real high) {
  const real rise = rho[3] - rho[1], least = smaller(rho[1], rho[3]);
  const real bend_below = rho[2] - 2 * rho[1] + rho[0], bend_above = rho[4] - 2 * rho[3] + rho[2];
  const bool is_contact = (real)0.1 * gamma * fabs(rise) * smaller(low, high) >=
                          fabs(high - low) * least;
  const bool is_jump = bend_below * bend_above < 0 && fabs(rise) > (real)0.01 * least;
  if (!is_contact || !is_jump) return 0;
  const real eta = 20 * (divide(bend_below - bend_above, 6 * rise) - (real)0.05);
  return smaller(larger(eta, (real)0), (real)1);
}

/* How far a monotone parabola rises from its lower edge to the mean and from there to its upper edge. */
template <typename real> INLINE void monotone_rises(real *low, real *high) {
  const real a = *low, b = *high;
  const bool rising = a * b > 0;
  *low = rising ? copysign(smaller(fabs(a), 2 * fabs(b)), a) : (real)0;
  *high = rising ? copysign(smaller(fabs(b), 2 * fabs(a)), b) : (real)0;
}

/* The mean of a parabola over the part x of a cell that is next to its upper face. */
template <typename real> INLINE real part_mean(real mean, real low, real high, real x) {
  return mean + high - (real)0.5 * x * (low + high - (3 - 2 * x) * (low - high));
}

/* The state at a face that a cell's waves make in the mean over the step. UP is 1 at the upper face and -1 at the
 * lower one, where the parabolas are mirrored. */
template <int UP, typename real>
INLINE void traced_state(real dt_dh, const sound<real> &s, const real *w, const real *low,
                         const real *high, real *state) {
  const real v = UP * w[ALONG], fast = dt_dh * larger(v + s.speed, (real)0),
             middle = dt_dh * larger(v, (real)0), slow = dt_dh * larger(v - s.speed, (real)0);
  const auto part = [&](int q, real x) {
    return UP > 0 ? part_mean(w[q], low[q], high[q], x) : part_mean(w[q], -high[q], -low[q], x);
  };
  const real density = part(0, fast), along = part(ALONG, fast), pressure = part(PRESSURE, fast);
  const real contact = middle > 0 ? density - part(0, middle) -
                                        s.square * (pressure - part(PRESSURE, middle))
                                  : (real)0;
  const real late_v = along - part(ALONG, slow), late_p = pressure - part(PRESSURE, slow);
  const real late = slow > 0 ? (real)0.5 * (late_p - UP * s.impedance * late_v) : (real)0;
  state[0] = density - contact - s.square * late;
  state[ALONG] = along + UP * s.inverse * late;
  state[2] = part(2, middle);
  state[3] = part(3, middle);
  state[PRESSURE] = pressure - late;
  state[ENTROPY] = part(ENTROPY, middle);
}

/* Whether p/rho of a state is larger than four times that of the cell and of the two beside it. */
template <typename real> INLINE bool is_too_hot(const real *s, const real (*w)[6]) {
  bool hot = true;
#pragma unroll
  for (int i = 0; i < 3; i++) hot = hot && s[PRESSURE] * w[i][0] > 4 * w[i][PRESSURE] * s[0];
  return hot;
}

/* Whether a cell stays physical with twice the change that one of its faces makes: u + part (flux - F(u)). */
template <typename real>
INLINE bool half_is_physical(const constants<real> &c, const real *u, const real *w, real part,
                             const real *flux) {
  const real v = w[ALONG];
  real after[6];
#pragma unroll
  for (int q = 0; q < 6; q++) after[q] = u[q] + part * (flux[q] - u[q] * v);
  after[1] -= part * w[PRESSURE];
  after[4] -= part * w[PRESSURE] * v;
  return is_physical<6>(c, after) && is_positive(after[ENTROPY]);
}

/** See rtvd.cuh for how a solver is used. */
template <typename T> struct ppm {
  typedef T real;
  enum { VARIABLES = 6, DIFFUSES_SIDES = 1, BEHIND = 2, TAKES_ALL_GHOSTS = 1 };
  real far;               /* density of the latest cell but three */
  real w[4][6];           /* primitive variables of the latest three cells, and room for the next */
  real slope[6], edge[6]; /* of the latest cell but one; at its lower face */
  real far_slope;         /* of the density of the cell before that */
  real upper[6];          /* state at the upper face of that cell */

  /** The states of cell w[1] at its faces. */
  __device__ __forceinline__ void face_states(const constants<real> &c, real dt_dh,
                                              const real *new_slope, const real *new_edge,
                                              real *low_state, real *high_state) const {
    real low[6], high[6];
    const real rho[5] = {far, w[0][0], w[1][0], w[2][0], w[3][0]};
    const real eta = steepness(c.gamma, rho, w[0][PRESSURE], w[2][PRESSURE]);
#pragma unroll
    for (int q = 0; q < 6; q++) {
      low[q] = edge[q];
      high[q] = new_edge[q];
      if (q == 0) {
        low[0] += eta * (rho[1] + (real)0.5 * far_slope - low[0]);
        high[0] += eta * (rho[3] - (real)0.5 * new_slope[0] - high[0]);
      }
      low[q] = w[1][q] - low[q];
      high[q] -= w[1][q];
      monotone_rises(&low[q], &high[q]);
    }
    const sound<real> s = sound_of(c.gamma, w[1]);
    traced_state<-1>(dt_dh, s, w[1], low, high, low_state);
    traced_state<1>(dt_dh, s, w[1], low, high, high_state);
    const bool good = smaller(smaller(low_state[0], high_state[0]),
                              smaller(low_state[PRESSURE], high_state[PRESSURE])) > 0 &&
                      !is_too_hot(low_state, w) && !is_too_hot(high_state, w);
#pragma unroll
    for (int q = 0; q < 6; q++) {
      low_state[q] = good ? low_state[q] : w[1][q];
      high_state[q] = good ? high_state[q] : w[1][q];
    }
  }

  __device__ __forceinline__ bool take(const constants<real> &c, real dt_dh, int i, bool beside,
                                       const real (*u)[VARIABLES], real *flux) {
    real new_slope[6], new_edge[6], low[6], high[6];
    primitive_variables(c, u[3], w[3]);
    wave_slopes(sound_of(c.gamma, w[2]), w[1], w[2], w[3], new_slope);
#pragma unroll
    for (int q = 0; q < 6; q++)
      new_edge[q] = edge_between(w[1][q], w[2][q], slope[q], new_slope[q]);
    face_states(c, dt_dh, new_slope, new_edge, low, high);
    hllc(c, upper, low, flux);
    if (beside) hll(c, upper, low, flux);
    const bool unsafe = i >= 5 && !(half_is_physical(c, u[0], w[0], -2 * dt_dh, flux) &&
                                    half_is_physical(c, u[1], w[1], 2 * dt_dh, flux));
    if (unsafe) first_order_flux(c, u[0], u[1], flux);
    far = w[0][0];
    far_slope = slope[0];
#pragma unroll
    for (int q = 0; q < 6; q++) {
      w[0][q] = w[1][q];
      w[1][q] = w[2][q];
      w[2][q] = w[3][q];
      slope[q] = new_slope[q];
      edge[q] = new_edge[q];
      upper[q] = high[q];
    }
    return unsafe;
  }
};

#endif
