/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The force between two particles, in single and in double precision: polynomial, table or exact,
 * with and without softening. */
#ifndef PHOTONS_P2P_FORCE_CUH
#define PHOTONS_P2P_FORCE_CUH

#include <math.h>

#include "cuda/tree/split.cuh"

/** The softening of a pair; lengths in r_cut. Of plummer2 and support2 one is 0. */
template <typename real> struct softening { real plummer2, support2, inverse_support; };

/* A polynomial of this degree is computed in single precision from powers of u, which saves the subtraction
 * of 1/2. Rounding then errs by 4e-7 of T (rms), less than the fit does, but more than that of higher
 * degrees. */
enum { POWERS = 6 };

/** Coefficients of the force as the kernel needs them. Lengths in r_cut, u = r^2. */
template <typename real> struct law {
  struct softening<real> soft;          /* where particles differ the largest one */
  real coefficient[P2P_DEGREE_MAX + 1]; /* of h in powers of u - 1/2 */
  real power[POWERS + 1];               /* of h in powers of u, if its degree is POWERS */
  int degree;
  const float *table;
  real to_argument, inverse_step, step; /* of the table */
  const double *exact;
  int exact_degree;
  bool gauss;
};

template <typename real> static struct softening<real> softening_for(const struct p2p_law *l) {
  const double support = sqrt((double)l->support2);
  return {real(l->plummer2), real(l->support2), support > 0.0 ? real(1.0 / support) : real(0)};
}

/** The coefficients of powers of u, from those of 2u - 1. */
template <typename real>
static void powers_for(const float *of_t, real *power) {
  double sum[POWERS + 1] = {0.0};
  for (int k = POWERS; k >= 0; k--) { /* sum = sum * (2u - 1) + of_t[k] */
    for (int i = POWERS; i > 0; i--) sum[i] = 2.0 * sum[i - 1] - sum[i];
    sum[0] = (double)of_t[k] - sum[0];
  }
  for (int k = 0; k <= POWERS; k++) power[k] = real(sum[k]);
}

template <typename real>
static struct law<real> law_for(const struct gpu_split *tables, const struct p2p_law *l) {
  const struct split *split = l->split;
  struct law<real> law = {};
  law.soft = softening_for<real>(l);
  law.degree = split->p2p_degree;
  for (int k = 0; k <= split->p2p_degree; k++) /* from powers of 2u - 1, without rounding */
    law.coefficient[k] = real(ldexp((double)split->p2p[k], k));
  if (split->p2p_degree == POWERS) powers_for(split->p2p, law.power);
  law.table = tables->table;
  law.to_argument = real(split->r_cut / (2.0 * split->r_s));
  law.inverse_step = real(1.0 / split->table_step);
  law.step = real(split->table_step);
  law.exact = tables->exact;
  law.exact_degree = tables->exact_degree;
  law.gauss = split->kind == SPLIT_GAUSS;
  return law;
}

/* The few operations that differ between single and double precision. */

/** u^-1/2 of hardware precision. The estimate's error, 3e-8 rms (mean -5e-9, at most 1.3e-7), is
 * that of one rounding; a Newton step would not improve sums of forces. */
static __device__ inline float
inverse_root(float a) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
#else /* on cores, in tests */
  return 1.0f / sqrtf(a);
#endif
}
static __device__ inline double inverse_root(double a) { return rsqrt(a); }

/** A product rounded before the subtraction that follows. With a fused multiply-add a particle's
 * position as a source would differ from its position as a target. */
static __device__ inline float rounded_product(float a, float b) { return __fmul_rn(a, b); }
static __device__ inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }

/** a += f d and tide += f where u < 1. One predicate guards four instructions: a select would cost a
 * fifth, and a branch would break up the loop. */
static __device__ inline void add_in_reach(float u, float f, const float d[3], float a[3],
                                           float &tide) {
#ifdef __CUDA_ARCH__
  asm("{\n\t.reg .pred in_reach;\n\tsetp.lt.f32 in_reach, %4, 0f3F800000;\n\t"
      "@in_reach fma.rn.f32 %0, %5, %6, %0;\n\t"
      "@in_reach fma.rn.f32 %1, %5, %7, %1;\n\t"
      "@in_reach fma.rn.f32 %2, %5, %8, %2;\n\t"
      "@in_reach add.rn.f32 %3, %5, %3;\n\t}"
      : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(tide)
      : "f"(u), "f"(f), "f"(d[0]), "f"(d[1]), "f"(d[2]));
#else
  if (u >= 1.0f) return;
  for (int c = 0; c < 3; c++) a[c] = fmaf(f, d[c], a[c]);
  tide += f;
#endif
}
static __device__ inline void add_in_reach(double u, double f, const double d[3], double a[3],
                                           double &tide) {
  f = u < 1.0 ? f : 0.0;
  for (int c = 0; c < 3; c++) a[c] = fma(f, d[c], a[c]);
  tide += f;
}

/** u^-3/2 */
template <typename real> static __device__ inline real inverse_cube(real u) {
  const real y = inverse_root(u);
  return y * y * y;
}

/** Forms of the force: DEGREE > 0 is a polynomial of that degree; the others are listed here. */
enum { ANY_DEGREE = 0, EXACT = -1, TABLE = -2 /* table of order 0; -3: order 1 ... -6: order 4 */ };

/* Forms of degree > 0: argument of the polynomial, and its coefficients. */
template <typename real, int FORM> static __device__ constexpr bool in_powers() {
  return FORM == POWERS && sizeof(real) == sizeof(float);
}
template <typename real, int FORM> static __device__ inline real argument(real u) {
  return in_powers<real, FORM>() ? u : u - real(0.5);
}
template <typename real, int FORM>
static __device__ inline real coefficient(const struct law<real> &law, int k) {
  if constexpr (in_powers<real, FORM>()) return law.power[k];
  return law.coefficient[k];
}

/** h(u) of the split: F/d = r^-3 - h. */
template <typename real, int FORM>
static __device__ inline real smooth_part(const struct law<real> &law, real u) {
  const real t = u - real(0.5);
  if constexpr (FORM > 0) {
    real h = coefficient<real, FORM>(law, FORM);
#pragma unroll
    for (int k = FORM - 1; k >= 0; k--)
      h = fma(h, argument<real, FORM>(u), coefficient<real, FORM>(law, k));
    return h;
  } else if constexpr (FORM == ANY_DEGREE) {
    real h = law.coefficient[law.degree];
    for (int k = law.degree - 1; k >= 0; k--) h = fma(h, t, law.coefficient[k]);
    return h;
  } else { /* in powers of 2u - 1 */
    real h = real(law.exact[law.exact_degree]);
    for (int k = law.exact_degree - 1; k >= 0; k--) h = fma(h, t + t, real(law.exact[k]));
    return h;
  }
}

/** T(x') by Taylor expansion about the nearest entry of the table. */
template <typename real, int ORDER>
static __device__ inline real table_value(const struct law<real> &law, const float *table, real r) {
  const real x = r * law.to_argument;
  int i = int(x * law.inverse_step);
  i = min(i, TABLE_ENTRIES - 1);
  const real d = x - (real(i) + real(0.5)) * law.step;
  real t = real(table[ORDER * TABLE_ENTRIES + i]);
#pragma unroll
  for (int q = ORDER - 1; q >= 0; q--) t = fma(t, d, real(table[q * TABLE_ENTRIES + i]));
  return t;
}

/** F/d at squared distance u > 0 of unsoftened particles. */
template <typename real, int FORM>
static __device__ inline real unsoftened(const struct law<real> &law, const float *table, real u) {
  if constexpr (FORM <= TABLE) {
    const real y = inverse_root(u);
    return table_value<real, TABLE - FORM>(law, table, u * y) * (y * y) * y;
  } else if constexpr (FORM == EXACT) {
    if (law.gauss) {
      const real y = inverse_root(u), x = u * y * law.to_argument;
      return (erfc(x) + real(1.1283791670955126) * x * exp(-x * x)) * (y * y) * y;
    }
  }
  return inverse_cube(u) - smooth_part<real, FORM>(law, u);
}

/** F/d of Newton's gravity with the spline's softening, for any u: spline_factor() of p2p.h at
 * q = r/support, without branches. At u = 0 any finite value will do. */
template <typename real>
static __device__ inline real spline_force(real u, real support2, real inverse_support) {
  const real safe = u > real(1e-30) ? u : real(1e-30),
             q = safe * inverse_root(safe) * inverse_support;
  const real newton = inverse_cube(safe),
             cube = inverse_support * inverse_support * inverse_support;
  const real inner = real(32.0 / 3.0) + q * q * (real(32) * q - real(38.4));
  const real outer = real(64.0 / 3.0) + q * (real(-48) + q * (real(38.4) - real(32.0 / 3.0) * q));
  const real soft = q < real(0.5) ? inner * cube : fma(real(-1.0 / 15.0), newton, outer * cube);
  return u < support2 ? soft : newton;
}

/** F/d with a pair's softening, for any u. Where particles nearly touch, h comes from its
 * polynomial or series, because 1 - T loses all digits there. */
template <typename real, int FORM>
static __device__ inline real softened(const struct law<real> &law,
                                       const struct softening<real> &pair, const float *table,
                                       real u) {
  constexpr int SERIES = FORM >= ANY_DEGREE || FORM == EXACT ? FORM : ANY_DEGREE;
  if (pair.plummer2 > real(0)) {
    const real soft = inverse_cube(u + pair.plummer2);
    if (FORM == SERIES || u < real(1e-3)) return soft - smooth_part<real, SERIES>(law, u);
    return soft - (inverse_cube(u) - unsoftened<real, FORM>(law, table, u));
  }
  if (FORM != SERIES && u >= pair.support2) return unsoftened<real, FORM>(law, table, u);
  return spline_force(u, pair.support2, pair.inverse_support) - smooth_part<real, SERIES>(law, u);
}

#endif
