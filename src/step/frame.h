/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of an isolated system follows its particles. */
#ifndef PHOTONS_STEP_FRAME_H
#define PHOTONS_STEP_FRAME_H

#include "photons/step/nbody.h"

/**
 * Double the frame until every particle is, and after its next drift will be, less than 0.9 of a
 * quarter of the side from the middle along each axis. Trees are then refitted. Where the softening
 * would be below the resolution of the doubled frame, the run ends with a message that names the
 * particles. No frame: nothing happens. The trees' boxes are those of the present positions, and
 * group.moved is how far particles may move until the next call. All tasks are done. Collective.
 */
void frame_follow(struct nbody *n);

#endif
