/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The type `real`, tests of values that -ffast-math leaves in place, and a cell's pressure. A file
 * that includes these headers defines REAL as float or double first. */
#ifndef PHOTONS_HYDRO_KERNELS_REAL_H
#define PHOTONS_HYDRO_KERNELS_REAL_H

#include <float.h>
#include <math.h>
#include <string.h>
#include <tgmath.h>

#include "photons/amr/kernels.h"

typedef REAL real;

/** Columns of cells that are solved at once. The widest registers hold as many numbers. */
enum { LANES = 64 / sizeof(real) };

#define INLINE static inline __attribute__((always_inline))

#define REAL_IS_DOUBLE (sizeof(real) == sizeof(double))
#define REAL_EPSILON ((real)(REAL_IS_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON))
/* Integers of the size of `real`. */
typedef __typeof__(__builtin_choose_expr(REAL_IS_DOUBLE, (uint64_t)0, (uint32_t)0)) real_bits;
static const real_bits infinity_bits = REAL_IS_DOUBLE ? (real_bits)0x7ff0000000000000u
                                                      : (real_bits)0x7f800000u;

INLINE real_bits bits_of(real a) {
  real_bits bits;
  memcpy(&bits, &a, sizeof bits);
  return bits;
}
/* Comparisons with NaN mean nothing under -ffast-math; these look at the bits. */
INLINE bool is_positive(real a) { return bits_of(a) - 1 < infinity_bits - 1; }
INLINE bool is_finite(real a) { return (bits_of(a) & infinity_bits) != infinity_bits; }

INLINE real largest(real a, real b) { return a > b ? a : b; }
INLINE real smallest(real a, real b) { return a < b ? a : b; }

/** struct gas_physics in the precision of the kernels. */
struct constants {
  real gamma, thermal; /**< thermal: gamma - 1, pressure over thermal energy */
  real minmod, dual_energy_switch, dual_energy_change, least_heat;
  bool has_entropy;
  bool keeps_entropy; /**< also where fluxes are corrected and cells are interpolated */
  unsigned carried;   /**< variables that follow those of the solver */
};

INLINE struct constants constants_of(const struct gas_physics *physics) {
  const bool has_entropy = gas_solved(physics) > GAS_ENTROPY;
  return (struct constants){(real)physics->gamma,
                            (real)(physics->gamma - 1.0),
                            (real)physics->minmod,
                            has_entropy ? (real)physics->dual_energy_switch : 0,
                            has_entropy ? (real)physics->dual_energy_change : 0,
                            (real)physics->least_heat,
                            has_entropy,
                            has_entropy && physics->dual_energy_change > 0.0,
                            gas_carried(physics)};
}

/** One cell's conserved variables; the momentum in any order of axes. */
struct cell {
  real density, momentum[3], energy, entropy;
};

INLINE real thermal_energy(struct cell a) {
  return a.energy - (real)0.5 *
                        (a.momentum[0] * a.momentum[0] + a.momentum[1] * a.momentum[1] +
                         a.momentum[2] * a.momentum[2]) /
                        a.density;
}

/** Whether the entropy says the pressure, because the thermal energy is lost in errors. */
INLINE bool entropy_decides(const struct constants *c, struct cell a, real thermal) {
  return (c->dual_energy_switch > 0) & (thermal < c->dual_energy_switch * a.energy);
}

/** Whether density and pressure are positive and all values are finite. */
INLINE bool is_physical(const struct constants *c, struct cell a) {
  const real thermal = thermal_energy(a);
  const real decides = entropy_decides(c, a, thermal) ? a.entropy : thermal;
  return is_positive(a.density) & is_positive(a.energy) & is_positive(decides) &
         is_finite(thermal) & is_finite(a.entropy);
}

INLINE real pressure_of(const struct constants *c, struct cell a) {
  const real thermal = thermal_energy(a);
  return entropy_decides(c, a, thermal) ? a.entropy * pow(a.density, c->thermal)
                                        : c->thermal * thermal;
}

/** What the energy lacks of that which the entropy says. */
INLINE real lost_energy(const struct constants *c, struct cell a) {
  return a.entropy * pow(a.density, c->thermal) / c->thermal - thermal_energy(a);
}

/** The cell, or, if it is colder, with the least heat and the same velocity. */
INLINE struct cell warmed(const struct constants *c, struct cell a) {
  const real least = c->least_heat * a.density;
  const bool cold = pressure_of(c, a) < least;
  a.energy += cold ? least / c->thermal - thermal_energy(a) : 0;
  a.entropy = cold ? least / pow(a.density, c->thermal) : a.entropy;
  return a;
}

/** Cell i of arrays with `stride` between variables. */
INLINE struct cell cell_at(const real *u, size_t stride, size_t i, bool has_entropy) {
  return (struct cell){u[i],
                       {u[i + stride], u[i + 2 * stride], u[i + 3 * stride]},
                       u[i + 4 * stride],
                       has_entropy ? u[i + 5 * stride] : 0};
}

#endif
