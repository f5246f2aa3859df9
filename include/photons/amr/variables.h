/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variables of gas. One row here adds a variable: memory, ghosts and messages between ranks, the step of both
 * solvers on cores and GPUs, what passes between levels, files, checkpoints, arrays of initial conditions
 * and log/statistics.csv follow this table. */
#ifndef PHOTONS_AMR_VARIABLES_H
#define PHOTONS_AMR_VARIABLES_H

#include "photons/config/choices.h"

/**
 * All variables are conserved, and all are per volume. Those of the solvers, SOLVED, come first, in the order
 * in which solvers know them. Rows of other variables may be in any order.
 *   number in enum gas_variable, after GAS_,
 *   name (in log/statistics.csv, and the dataset of its fraction in arrays of initial conditions),
 *   name in files, which GAMER has,
 *   unit of the values in memory and files, in words,
 *   how many variables the row may stand for: if more than one, names end in a number,
 *   how many there are in a run, of struct gas_physics *physics,
 *   how it moves: enum gas_motion
 *
 * ENTROPY: pressure / density^(gamma - 1), which gas without shocks conserves
 */
#define GAS_VARIABLES(VARIABLE)                                                  \
  VARIABLE(DENSITY, "density", "Dens", "mass/length^3", 1, 1, SOLVED)            \
  VARIABLE(MOMENTUM_X, "momentum_x", "MomX", "mass/length^2/time", 1, 1, SOLVED) \
  VARIABLE(MOMENTUM_Y, "momentum_y", "MomY", "mass/length^2/time", 1, 1, SOLVED) \
  VARIABLE(MOMENTUM_Z, "momentum_z", "MomZ", "mass/length^2/time", 1, 1, SOLVED) \
  VARIABLE(ENERGY, "energy", "Engy", "mass/length/time^2", 1, 1, SOLVED)         \
  VARIABLE(ENTROPY, "entropy", "Dual", "pressure/density^(gamma-1)", 1,          \
           physics->solver != GAS_RTVD, SOLVED)                                  \
  VARIABLE(SCALAR, "scalar", "Passive", "mass/length^3", GAS_SCALARS_MAX, physics->scalars, CARRIED)

/** How a variable moves. */
enum gas_motion {
  GAS_SOLVED, /**< the solvers know it by its place in this table */
  GAS_CARRIED /**< with the mass: it is the density of a part of the gas, of a fraction 0 to 1, and its
                   flux is that of the mass times the fraction of the gas that flows */
};

#define GAS_VARIABLE_NUMBER(number, name, label, unit, most, there, motion) \
  GAS_##number, GAS_##number##_LAST = GAS_##number + (most)-1,
/** Numbers of variables, whether a run has them or not. In memory those that a run has follow each other
 * in this order: gas_variable_at(). */
enum gas_variable {
  GAS_VARIABLES(GAS_VARIABLE_NUMBER) GAS_VARIABLES_MAX,
  GAS_SOLVED_MAX = GAS_ENTROPY + 1,
  GAS_CARRIED_MAX = GAS_VARIABLES_MAX - GAS_SOLVED_MAX
};

struct gas_physics;

/** The number of variable v in memory of a run. @param v  below gas_variables() */
enum gas_variable gas_variable_at(const struct gas_physics *physics, unsigned v);

struct gas_variable_text {
  char text[32];
};
/** Its name, its name in files, and its unit. */
struct gas_variable_text gas_variable_name(enum gas_variable number);
struct gas_variable_text gas_variable_label(enum gas_variable number);
const char *gas_variable_unit(enum gas_variable number);

#endif
