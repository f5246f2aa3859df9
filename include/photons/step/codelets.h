/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time integration as tasks, one task a group. */
#ifndef PHOTONS_STEP_CODELETS_H
#define PHOTONS_STEP_CODELETS_H

#include "photons/step/nbody.h"

/** @param factor  integral of dt/a: (Mpc/h)/(km/s) */
void kick_submit(struct nbody *n, struct group *g, float factor);
/** @param factor  integral of dt/a^2 */
void drift_submit(struct nbody *n, struct group *g, float factor);

#endif
