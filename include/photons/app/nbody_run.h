/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The N-body solver: collisionless particles in a periodic, expanding box, or in empty space. */
#ifndef PHOTONS_APP_NBODY_RUN_H
#define PHOTONS_APP_NBODY_RUN_H

#include "photons/app/solver.h"

extern const struct solver solver_of_box, solver_of_isolated;

#endif
