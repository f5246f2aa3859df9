/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The N-body solver: collisionless particles in a periodic, expanding box. */
#ifndef PHOTONS_APP_NBODY_RUN_H
#define PHOTONS_APP_NBODY_RUN_H

#include "photons/app/run.h"
#include "photons/app/solver.h"
#include "photons/step/timeline.h"

/**
 * Initial conditions or the checkpoint at `checkpoint` (NULL: none), and what steps need. StarPU
 * runs. Collective.
 * @param[in,out] p  what the initial conditions' file and not config.ini says is stored here; the
 *                   caller keeps it until solver.end()
 * @param[out] now   where the run stands
 * @param[out] timeline  of the run
 */
struct solver nbody_run_create(struct parameters *p, const char *checkpoint, struct progress *now,
                               struct timeline *timeline);

/** For --dry-run: check everything, print parameters, memory and groups. StarPU need not run; all
 * else is as for nbody_run_create(), and no file changes. */
void nbody_run_dry(struct parameters *p, const char *checkpoint, struct progress *now,
                   struct timeline *timeline);

/** Particles that the initial conditions of the parameters have, if they are generated; else 0. */
size_t nbody_run_generated(const struct parameters *p);
/** End the program where this machine cannot hold the generated particles, because the kernel kills who uses
 * memory that was promised freely, or where their softening does not go with the mesh. Collective. */
void nbody_run_require_possible(const struct parameters *p);

#endif
