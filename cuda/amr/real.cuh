/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arithmetic of one cell of gas, as src/hydro/kernels/real.h has it for cores. Single precision
 * divides and takes roots with the GPU's fast instructions, whose error is two units in the last
 * place. */
#ifndef PHOTONS_CUDA_AMR_REAL_CUH
#define PHOTONS_CUDA_AMR_REAL_CUH

#include <cfloat>
#include <cmath>

#include "cuda/amr/gpu_amr.h"
#include "cuda/runtime/gpu.cuh"

#define INLINE static __device__ __forceinline__

/** A divisor below FLT_MIN counts as 0: the instructions that would scale it take longer than the division. */
INLINE float divide(float a, float b) {
#ifdef __CUDA_ARCH__
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  return a * inverse;
#else
  return __fdividef(a, b);
#endif
}
INLINE double divide(double a, double b) { return a / b; }
/** The root of a number below FLT_MIN is 0. */
INLINE float root(float a) {
  float inverse;
#ifdef __CUDA_ARCH__
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(a));
#else
  inverse = rsqrtf(a);
#endif
  return a >= FLT_MIN ? a * inverse : 0.0f;
}
INLINE double root(double a) { return sqrt(a); }
INLINE float power(float a, float b) { return powf(a, b); }
INLINE double power(double a, double b) { return pow(a, b); }
template <typename real> INLINE real larger(real a, real b) { return a > b ? a : b; }
template <typename real> INLINE real smaller(real a, real b) { return a < b ? a : b; }
INLINE float epsilon(float) { return FLT_EPSILON; }
INLINE double epsilon(double) { return DBL_EPSILON; }
/* Without branches: the sweeps ask this of each cell. */
INLINE float largest(float) { return FLT_MAX; }
INLINE double largest(double) { return DBL_MAX; }
template <typename real> INLINE bool is_finite(real a) { return fabs(a) <= largest(a); }
template <typename real> INLINE bool is_positive(real a) { return (a > 0) & (a <= largest(a)); }

/** struct gas_physics in the precision of the cells. */
template <typename real> struct constants {
  real gamma, thermal; /* thermal: gamma - 1, pressure over thermal energy */
  real minmod, dual_energy_switch, dual_energy_change, least_heat;
  bool keeps_entropy; /* also where fluxes are corrected and cells are interpolated */
  uint32_t variables; /* of a cell: those of the solver, and those that the gas carries */
};

template <typename real> constants<real> constants_of(const struct gas_physics *p) {
  const bool has_entropy = p->solver != GAS_RTVD;
  return {(real)p->gamma,
          (real)(p->gamma - 1.0),
          (real)p->minmod,
          has_entropy ? (real)p->dual_energy_switch : (real)0,
          has_entropy ? (real)p->dual_energy_change : (real)0,
          (real)p->least_heat,
          has_entropy && p->dual_energy_change > 0.0,
          gas_variables(p)};
}

/* u: density, momentum in any order of axes, energy, and entropy where V is 6. */

template <typename real> INLINE real thermal_energy(const real *u) {
  return u[4] - (real)0.5 * divide(u[1] * u[1] + u[2] * u[2] + u[3] * u[3], u[0]);
}

/** Whether the entropy says the pressure, because the thermal energy is lost in errors. */
template <typename real>
INLINE bool entropy_decides(const constants<real> &c, const real *u, real thermal) {
  return c.dual_energy_switch > 0 && thermal < c.dual_energy_switch * u[4];
}

/** What the energy lacks of that which the entropy says; V is 6. */
template <int V, typename real> INLINE real lost_energy(const constants<real> &c, const real *u) {
  return divide(u[V - 1] * power(u[0], c.thermal), c.thermal) - thermal_energy(u);
}

template <int V, typename real> INLINE bool is_physical(const constants<real> &c, const real *u) {
  const real thermal = thermal_energy(u);
  const bool cold = V == 6 && entropy_decides(c, u, thermal);
  return is_positive(u[0]) & is_positive(u[4]) & is_positive(cold ? u[V - 1] : thermal) &
         is_finite(thermal) & is_finite(u[V - 1]);
}

template <int V, typename real> INLINE real pressure_of(const constants<real> &c, const real *u) {
  const real thermal = thermal_energy(u);
  if (V == 6 && entropy_decides(c, u, thermal)) return u[V - 1] * power(u[0], c.thermal);
  return c.thermal * thermal;
}

/** Energy and entropy made to agree: the one that is less exact follows the other.
 * @param cold_flow  whether the thermal energy is an error of the change in the step */
template <typename real>
INLINE void reconcile_entropy(const constants<real> &c, bool cold_flow, real *u) {
  const real thermal = thermal_energy(u), density = power(u[0], c.thermal);
  if (cold_flow || entropy_decides(c, u, thermal))
    u[4] += divide(u[5] * density, c.thermal) - thermal;
  else
    u[5] = divide(c.thermal * thermal, density);
}

/** Give a cell that is colder the least heat, with the same velocity. */
template <int V, typename real> INLINE void keep_warm(const constants<real> &c, real *u) {
  const real least = c.least_heat * u[0];
  if (c.least_heat > 0 && pressure_of<V>(c, u) < least) {
    u[4] += divide(least, c.thermal) - thermal_energy(u);
    if (V == 6) u[V - 1] = divide(least, power(u[0], c.thermal));
  }
}

/** Without an entropy a thermal energy within the rounding of the energy can come out negative: it becomes
 * that of the rounding. */
template <typename real> INLINE void raise_lost_pressure(const constants<real> &c, real *u) {
  const real thermal = thermal_energy(u), rounding = 16 * epsilon(u[4]) * u[4];
  if (!is_physical<5>(c, u) && is_positive(u[0]) && is_positive(u[4]) &&
      is_positive(thermal + rounding))
    u[4] += rounding - thermal;
}

/** Where cell x, y, z of a group is in [patch][8][8][8]. */
INLINE int place_in_group(int x, int y, int z) {
  const int patch = x / GAS_PATCH_SIDE + 2 * (y / GAS_PATCH_SIDE) + 4 * (z / GAS_PATCH_SIDE);
  return patch * GAS_PATCH_CELLS + (z % GAS_PATCH_SIDE * GAS_PATCH_SIDE + y % GAS_PATCH_SIDE) * 8 +
         x % GAS_PATCH_SIDE;
}

struct cell_place {
  int x, y, z;
};

/** Where cell i of [patch][8][8][8] is in its group. */
INLINE struct cell_place place_of_cell(int i) {
  const int patch = i / GAS_PATCH_CELLS;
  return {(patch & 1) * 8 + i % 8, (patch >> 1 & 1) * 8 + i / 8 % 8, (patch >> 2) * 8 + i / 64 % 8};
}

/** The mean of the 2^3 cells of a finer group in a cell of the patch that it refines. */
template <typename real> INLINE real finer_mean(const real *fine, uint32_t cell) {
  const int x = (int)(cell % 8), y = (int)(cell / 8 % 8), z = (int)(cell / 64);
  const real *f = fine + place_in_group(2 * x, 2 * y, 2 * z);
  return (((f[0] + f[1]) + (f[8] + f[9])) + ((f[64] + f[65]) + (f[72] + f[73]))) / 8;
}

/** The mean of the 2^3 cells of a finer group's densities in cell x, y, z of the patch that it refines:
 * own and finer ones. */
INLINE double matter_mean(const struct gas_matter &fine, int x, int y, int z) {
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const int at = ((2 * z + (k >> 2)) * GAS_GROUP_SIDE + 2 * y + (k >> 1 & 1)) * GAS_GROUP_SIDE +
                   2 * x + (k & 1);
    sum += fine.own[at] + fine.fine[at];
  }
  return 0.125 * sum;
}

#endif
