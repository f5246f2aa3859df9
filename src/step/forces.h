/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The submission of the tasks that compute forces. */
#ifndef PHOTONS_STEP_FORCES_H
#define PHOTONS_STEP_FORCES_H

#include <stdbool.h>

#include "photons/step/nbody.h"

/**
 * Submit the tasks that compute the forces by particles on the targets of all groups. Their neighbours are
 * found (domain_find_neighbours()), and their trees are refitted, or will be by tasks submitted before;
 * with several ranks, or where domain.sources_later, these tasks have ended, unless forces_wait_for_boxes(). Afterwards
 * forces_submit_external() and message_wait() must follow. Collective.
 * @param mesh     compute the long-range forces, too; they are those of all particles
 * @param choose   makes the targets of a group (targets.h); called for groups that have some
 * @param context  its last argument
 */
void forces_submit(struct nbody *n, bool mesh,
                   void (*choose)(struct nbody *n, struct group *g, void *context), void *context);
/** Whether forces_submit() waits for refits and finds neighbours itself: one rank of an isolated system, where
 * other tasks keep workers busy meanwhile. */
bool forces_wait_for_boxes(const struct nbody *n);
/** Submit the tasks that add the potentials of section [external], if there are any. */
void forces_submit_external(struct nbody *n);

#endif
