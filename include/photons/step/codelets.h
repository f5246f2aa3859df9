/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of time integration. Each function submits the task of one group. */
#ifndef PHOTONS_STEP_CODELETS_H
#define PHOTONS_STEP_CODELETS_H

#include "photons/step/external.h"
#include "photons/step/kick.h"
#include "photons/step/light_cone.h"
#include "photons/step/moments.h"
#include "photons/step/momentum_sum.h"
#include "photons/step/nbody.h"
#include "photons/step/net_force.h"

/** Kick the particles of a group. */
void kick_submit(struct nbody *n, struct group *g, struct kick kick);
/** Kick the targets of a group (targets.h) by rungs. The numbers of particles on the rungs from
 * kick.top on are written to n->rungs. */
void kick_rungs_submit(struct nbody *n, struct group *g, const struct rung_kick *kick);
/** Find the black holes of a group, n->holes (holes.h). */
void holes_find_submit(struct nbody *n, struct group *g);
/** x += factor * p. @param factor  integral of dt/a^2, (Mpc/h)/(km/s) */
void drift_submit(struct nbody *n, struct group *g, float factor);
/** drift_submit() and refit_submit() as one task. */
void move_submit(struct nbody *n, struct group *g, float factor);
/** `factor` of drift_submit() in units of positions. */
float drift_units(const struct nbody *n, float factor);

/** Find the particles of a group that cross the light cone in a drift: light_cone_submit() calls this
 * before the drift. @param bounds  of the group during the drift, about the box's corner
 * @param way  no particle goes farther, position units */
void cone_submit(struct nbody *n, struct group *g, const struct cone_drift *drift,
                 const struct cone_bounds *bounds, double way, struct cone_part *part);

/** Accelerations of the targets of a group in the potentials n->external: added, or written where
 * particles do not attract each other. */
void external_submit(struct nbody *n, struct group *g);
/** The energy of a group in these potentials, in units of particles.mass.
 * @param[out] sum  written when the task has ended
 * @param potential  [count] the potentials are added to these; NULL: to none */
void external_sum_submit(struct nbody *n, struct group *g, struct external_sums *sum,
                         float *potential);

/** Find the sums of all particles of a group, which are its targets. @param[out] sums  in page-locked memory
 * (pinned.h), written when the task has ended */
void net_force_submit(struct nbody *n, struct group *g, struct net_force_sums *sums);
/** Change the accelerations of the targets of a group. */
void net_force_remove_submit(struct nbody *n, struct group *g,
                             const struct net_force_change *change);

/** Find the sums. @param[out] sum  in page-locked memory (pinned.h), written when the task has ended */
void momentum_sum_submit(const struct nbody *n, struct group *g, struct momentum_sum *sum);

/** Find the sums. @param[out] sum  [PARTICLE_TYPES] in page-locked memory (pinned.h), written when the task
 * has ended */
void moments_submit(const struct domain *d, struct group *g, struct moments *sum);

#endif
