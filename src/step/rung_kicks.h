/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kicks by rungs of all targets of this rank. */
#ifndef PHOTONS_STEP_RUNG_KICKS_H
#define PHOTONS_STEP_RUNG_KICKS_H

#include "photons/step/nbody.h"

/**
 * Submit the kicks of the targets of all groups, after the tasks that compute their forces. Collective.
 *
 * With short_range.keep_near (time.criterion = pairs) new rungs follow the rates of pairs, which need the momenta
 * of both particles at the present moment: first all targets close their steps, then their rates are found,
 * and then their next steps are opened. Targets whose step ends now are on rungs as deep as those of the pairs
 * that decide, so that passive sources, whose momenta are those of the middle of a step, decide no step.
 * @param k  with keep_near the kicks open a step (RUNG_DEEPENS) or end a base step (RUNG_FOLLOWS), but
 *           choose any rung from k->top on; RUNG_BY_ACCELERATION: the first steps, from accelerations and pairs
 */
void rung_kicks_submit(struct nbody *n, const struct rung_kick *k);

#endif
