/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One step (kick-drift-kick, Quinn et al. 1997): which tasks are submitted, in which order. All
 * functions are collective and return when their tasks have ended. */
#ifndef PHOTONS_STEP_H
#define PHOTONS_STEP_H

#include "photons/step/kick.h"
#include "photons/step/nbody.h"

/**
 * The opening half kick, the drift and the refit. Afterwards the host may read the groups' boxes.
 * @param kick   integral of dt/a over the first half of the step, (Mpc/h)/(km/s)
 * @param drift  integral of dt/a^2 over the step, (Mpc/h)/(km/s)
 */
void step_drift(struct nbody *n, double kick, double drift);

/**
 * A drift from the scale factor @p from to @p to.
 * @param drift  as in step_drift(), over the drift
 * @param boxes  fit the boxes of trees: forces or outputs follow, not another drift. Light cones need them always.
 */
void step_move(struct nbody *n, double from, double to, double drift, bool boxes);

/** The forces at the current positions, whose trees are refitted, and a kick by all of them. */
void step_kick(struct nbody *n, struct kick kick);

/**
 * The forces at the current positions, whose trees are refitted, and the closing half kick.
 * @param kick       as in step_drift(), over the second half of the step; 0: only forces
 * @param meanwhile  called on the main thread while the tasks run; it may read positions
 *         (domain_acquire_positions()); NULL: nothing
 */
void step_forces(struct nbody *n, double kick, void (*meanwhile)(void *context), void *context);

/** The forces on all particles at the current positions, whose trees are refitted, and a kick.
 * @param close  submits the kicks of all groups of this rank; `kick` is its last argument
 * @param meanwhile, context  as in step_forces() */
void step_all_forces(struct nbody *n, void (*close)(struct nbody *n, const void *kick),
                     const void *kick, void (*meanwhile)(void *context), void *context);

/** Refit all trees. After nbody_migrate() the new owners do not know the boxes of their groups. */
void step_refit(struct nbody *n);

/** Rebuild the domain: sort the particles of all ranks into groups and leaves, and refit all
 * trees. */
void step_rebuild(struct nbody *n);

/** The first forces. With the relative acceptance criterion, forces are computed twice: the first
 * time with the geometric criterion, which gives the accelerations that the relative one needs. */
void step_first_forces(struct nbody *n);

/** In the place of the first forces where a run begins with step_move(): find the boxes of the groups and
 * their largest momenta. */
void step_begin_drift(struct nbody *n);

/** Forces on all particles of other trees or of another mesh, without a step. */
void step_forces_anew(struct nbody *n);

/** Sort the particles of each group into the order of its tree, and refit. No particle changes
 * groups. */
void step_sort(struct nbody *n);

/** Find what is not in a checkpoint if the forces were not computed here (restart): the largest
 * acceleration of each group, and with block time steps the accelerations of the mesh. */
void step_measure(struct nbody *n);

/** The largest |acceleration| of all particles of the run, comoving, (km/s)^2/(Mpc/h). After
 * step_forces() or step_measure(). */
double step_acc_max(const struct nbody *n);

#endif
