/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas, particles or both on an adaptive mesh: in a box at rest, or in one that expands. */
#ifndef PHOTONS_APP_GAS_RUN_H
#define PHOTONS_APP_GAS_RUN_H

#include "photons/app/solver.h"

extern const struct solver solver_of_gas, solver_of_comoving_gas;

#endif
