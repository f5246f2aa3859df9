/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of time integration. Each function submits the task of one group. */
#ifndef PHOTONS_STEP_CODELETS_H
#define PHOTONS_STEP_CODELETS_H

#include "photons/step/nbody.h"

/** p += factor * acceleration. @param factor  integral of dt/a, (Mpc/h)/(km/s) */
void kick_submit(struct nbody *n, struct group *g, float factor);
/** x += factor * p. @param factor  integral of dt/a^2, (Mpc/h)/(km/s) */
void drift_submit(struct nbody *n, struct group *g, float factor);

#endif
