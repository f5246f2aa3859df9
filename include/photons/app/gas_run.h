/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of gas on an adaptive mesh: the solver behind the loop of a run. */
#ifndef PHOTONS_APP_GAS_RUN_H
#define PHOTONS_APP_GAS_RUN_H

#include "photons/app/solver.h"
#include "photons/config/parameters.h"
#include "photons/step/timeline.h"

/** As nbody_run_create(). */
struct solver gas_run_create(struct parameters *p, const char *checkpoint, struct progress *now,
                             struct timeline *timeline);

/** As nbody_run_dry(). */
void gas_run_dry(struct parameters *p, const char *checkpoint, struct progress *now,
                 struct timeline *timeline);

#endif
