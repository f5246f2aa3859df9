/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of gas by what is measured of it. */
#ifndef PHOTONS_GAS_PRIMITIVE_H
#define PHOTONS_GAS_PRIMITIVE_H

#include "photons/amr/kernels.h"

/** Density, velocity and pressure. */
struct gas_primitive {
  double density, velocity[3], pressure;
};

/** The conserved variables, in the order of enum gas_variable. */
void gas_conserve(const struct gas_primitive *w, double gamma, double conserved[GAS_VARIABLES_MAX]);

#endif
