/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of gas by what is measured of it. */
#ifndef PHOTONS_GAS_PRIMITIVE_H
#define PHOTONS_GAS_PRIMITIVE_H

#include <stdbool.h>

#include "photons/amr/kernels.h"

/** Density, velocity, pressure, and fractions of what the gas carries, in the order of enum gas_variable. */
struct gas_primitive {
  double density, velocity[3], pressure, carried[GAS_CARRIED_MAX];
};

/** The conserved variables, by enum gas_variable. */
void gas_conserve(const struct gas_primitive *w, double gamma, double conserved[GAS_VARIABLES_MAX]);

/** Why the solvers cannot compute with a cell in single or double precision; NULL if they can. They
 * multiply momenta with each other, and changes from cell to cell: such products of numbers that are too
 * small are 0, of numbers too large infinite. The pressure is lost where the thermal energy is less than
 * the rounding of the kinetic energy. */
const char *gas_precision_lacks(const struct gas_primitive *w, double gamma, bool wide);
/** What helps against that. */
const char *gas_precision_remedy(bool wide);

#endif
