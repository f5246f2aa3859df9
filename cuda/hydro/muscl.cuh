/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MUSCL-Hancock along one column of cells: src/hydro/kernels/muscl.h for one thread. */
#ifndef PHOTONS_CUDA_HYDRO_MUSCL_CUH
#define PHOTONS_CUDA_HYDRO_MUSCL_CUH

#include "cuda/amr/real.cuh"

/* Primitive variables: density, velocity along the column, across it twice, pressure, entropy per
 * mass. */
enum { ALONG = 1, PRESSURE = 4, ENTROPY = 5 };

template <typename real>
INLINE void primitive_variables(const constants<real> &c, const real *u, real *w) {
  const real volume = divide((real)1, u[0]);
  const real thermal = u[4] - (real)0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * volume;
  w[0] = u[0];
  for (int q = 1; q <= 3; q++) w[q] = u[q] * volume;
  w[PRESSURE] = c.thermal * thermal;
  if (entropy_decides(c, u, thermal)) w[PRESSURE] = u[5] * power(u[0], c.thermal);
  w[ENTROPY] = u[5] * volume;
}

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

/** The outermost waves of a Riemann problem and its contact. */
template <typename real> struct waves { real left, contact, right; };

template <typename real> INLINE waves<real> wave_speeds(real gamma, const real *a, const real *b) {
  const real root_a = root(a[0]), root_b = root(b[0]);
  const real part_a = divide(root_a, root_a + root_b), part_b = 1 - part_a;
  const real square_a = gamma * divide(a[PRESSURE], a[0]),
             square_b = gamma * divide(b[PRESSURE], b[0]);
  const real jump = b[ALONG] - a[ALONG], v = part_a * a[ALONG] + part_b * b[ALONG];
  const real sound = root(part_a * square_a + part_b * square_b +
                          (real)0.5 * part_a * part_b * jump * jump);
  /* Sound that is lost beside the velocity must not make the waves one. */
  const real margin = 4 * epsilon(v) * (fabs(a[ALONG]) + fabs(b[ALONG]));
  waves<real> s;
  s.left = smaller(a[ALONG] - root(square_a), v - sound) - margin;
  s.right = larger(b[ALONG] + root(square_b), v + sound) + margin;
  const real mass_a = a[0] * (s.left - a[ALONG]), mass_b = b[0] * (s.right - b[ALONG]);
  s.contact = divide(b[PRESSURE] - a[PRESSURE] + mass_a * a[ALONG] - mass_b * b[ALONG],
                     mass_a - mass_b);
  return s;
}

/* The flux of Riemann problem a | b by HLLC, from the side of the contact on which the face
 * lies. */
template <typename real>
INLINE void hllc(const constants<real> &c, const real *a, const real *b, real *flux) {
  const waves<real> wave = wave_speeds(c.gamma, a, b);
  const bool from_left = wave.contact >= 0;
  real s[6];
#pragma unroll
  for (int q = 0; q < 6; q++) s[q] = from_left ? a[q] : b[q];
  const real outer = from_left ? wave.left : wave.right;
  const real inside = from_left ? smaller(outer, (real)0) : larger(outer, (real)0);

  const real v = s[ALONG], mass = s[0] * (outer - v);
  const real star = divide(mass, outer - wave.contact);
  const real energy = (real)0.5 * s[0] * (v * v + s[2] * s[2] + s[3] * s[3]) +
                      divide(s[PRESSURE], c.thermal);
  const real star_energy = star * (divide(energy, s[0]) +
                                   (wave.contact - v) * (wave.contact + divide(s[PRESSURE], mass)));
  const real mass_flux = s[0] * v + inside * (star - s[0]);
  flux[0] = mass_flux;
  flux[1] = s[0] * v * v + s[PRESSURE] + inside * (star * wave.contact - s[0] * v);
  flux[2] = mass_flux * s[2];
  flux[3] = mass_flux * s[3];
  flux[4] = (energy + s[PRESSURE]) * v + inside * (star_energy - energy);
  flux[5] = mass_flux * s[ENTROPY];
}

/* The flux of Riemann problem a | b by HLL: hll() of src/hydro/kernels/muscl.h. */
template <typename real>
INLINE void hll(const constants<real> &c, const real *a, const real *b, real *flux) {
  const waves<real> wave = wave_speeds(c.gamma, a, b);
  const real left = smaller(wave.left, (real)0), right = larger(wave.right, (real)0);
  const real part = divide(right, right - left), other = 1 - part, jump = part * left;
  const real from = part * a[ALONG], to = other * b[ALONG];
  real u[6], v[6];
  for (int side = 0; side < 2; side++) {
    const real *s = side == 0 ? a : b;
    real *w = side == 0 ? u : v;
    w[0] = s[0];
    for (int q = 1; q <= 3; q++) w[q] = s[0] * s[q];
    w[4] = (real)0.5 * s[0] * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]) +
           divide(s[PRESSURE], c.thermal);
    w[5] = s[0] * s[ENTROPY];
  }
  for (int q = 0; q < 6; q++) flux[q] = from * u[q] + to * v[q] + jump * (v[q] - u[q]);
  flux[1] += part * a[PRESSURE] + other * b[PRESSURE];
  flux[4] += from * a[PRESSURE] + to * b[PRESSURE];
}

/** See rtvd.cuh for how a solver is used. */
template <typename T, int LIMITER> struct muscl {
  typedef T real;
  enum { VARIABLES = 6, DIFFUSES_SIDES = 1 };
  real below[6], here[6]; /* primitive variables of the latest two cells */
  real upper[6];          /* state at the upper face of the latest but one */
  real latest[6];         /* flux of second order */
  bool unphysical;        /* the cell below that flux, after the step */

  /* Fluxes of first order take the place of those next to a cell that would not be physical. */
  static __device__ __noinline__ void first_order(const constants<real> &c, const real *u_below,
                                                  const real *u_above, real *flux) {
    real a[6], b[6];
    primitive_variables(c, u_below, a);
    primitive_variables(c, u_above, b);
    hllc(c, a, b, flux);
  }

  /* The flux beside a strong shock. */
  static __device__ __noinline__ void diffuse(const constants<real> &c, const real *a,
                                              const real *b, real *flux) {
    hll(c, a, b, flux);
  }

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
    if (beside) {
      real a[6], b[6], diffuse_flux[6];
#pragma unroll
      for (int q = 0; q < 6; q++) {
        a[q] = upper[q];
        b[q] = low[q];
      }
      diffuse(c, a, b, diffuse_flux);
#pragma unroll
      for (int q = 0; q < 6; q++) next[q] = diffuse_flux[q];
    }
#pragma unroll
    for (int q = 0; q < 6; q++) {
      after[q] = w[1][q] - dt_dh * (next[q] - latest[q]);
      flux[q] = latest[q];
    }
    const bool bad = !is_physical<6>(c, after), falls_back = (bad || unphysical) && i >= 5;
    if (falls_back) {
      real safe[6], u_below[6], u_above[6];
#pragma unroll
      for (int q = 0; q < 6; q++) {
        u_below[q] = w[0][q];
        u_above[q] = w[1][q];
      }
      first_order(c, u_below, u_above, safe);
#pragma unroll
      for (int q = 0; q < 6; q++) flux[q] = safe[q];
    }
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
