/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kicks and drifts. */
#ifndef PHOTONS_TESTS_GPU_STEP_MOTION_H
#define PHOTONS_TESTS_GPU_STEP_MOTION_H

#include "tests/gpu/bench.h"

/** Kicks, drifts and sums of momenta of a group. */
void check_motion(const struct bench *b, struct group *g, struct difference *kick,
                  struct difference *drift);

#endif
