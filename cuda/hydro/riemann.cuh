/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Primitive variables and the Riemann problem: src/hydro/kernels/riemann.h for one thread. */
#ifndef PHOTONS_CUDA_HYDRO_RIEMANN_CUH
#define PHOTONS_CUDA_HYDRO_RIEMANN_CUH

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

/* The flux of Riemann problem a | b by HLL: hll() of src/hydro/kernels/riemann.h. */
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

/* Rare fluxes, apart from what is often. */

/** Variables of a cell, or of a flux. As arguments they need no memory, which arrays do. */
template <typename real> struct six { real of[6]; };

template <typename real>
static __device__ __noinline__ six<real> first_order_apart(const constants<real> &c,
                                                           six<real> below, six<real> above) {
  real a[6], b[6];
  six<real> flux;
  primitive_variables(c, below.of, a);
  primitive_variables(c, above.of, b);
  hllc(c, a, b, flux.of);
  return flux;
}

/** The flux of first order between two cells. */
template <typename real>
INLINE void first_order_flux(const constants<real> &c, const real *u_below, const real *u_above,
                             real *flux) {
  six<real> below, above;
#pragma unroll
  for (int q = 0; q < 6; q++) {
    below.of[q] = u_below[q];
    above.of[q] = u_above[q];
  }
  const six<real> result = first_order_apart(c, below, above);
#pragma unroll
  for (int q = 0; q < 6; q++) flux[q] = result.of[q];
}

#endif
