/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a run will still take. Seconds are counted against the work that is expected of a step,
 * and the recent seconds per work go on to the end. In a system that does not expand the work is
 * the time that passes. In an expanding universe base steps have equal lengths in ln a, and each
 * has the same work. Halos are about as dense at any time: they need steps of equal lengths in t,
 * and have a work that grows as 1/H in ln a. The work of both is w(a) dln a, w = BASE +
 * (H0/H)^GROWTH. Outputs to come take the mean of those written. */
#ifndef PHOTONS_APP_ETA_H
#define PHOTONS_APP_ETA_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/cosmology/cosmology.h"

/** All zero: no step yet. */
struct eta {
  double seconds, work;  /**< of steps, sums that fade */
  double step_seconds;   /**< of all steps */
  double output_seconds; /**< of all outputs written */
  size_t steps, outputs; /**< counted */
};

/** The work that is expected from one scale factor to another, or times of an isolated system's
 * clock. Only ratios count. */
double eta_work(const struct cosmology *universe, double from, double to);
/**
 * Count a step.
 * @param work     that was expected of it
 * @param seconds  that it took
 * @param output   part of an output was made beside its forces: of the seconds only those count that
 *                 its work is expected to take
 */
void eta_step(struct eta *e, double work, double seconds, bool output);
/** Count an output. @param seconds  that it took, those beside a step's forces included */
void eta_output(struct eta *e, double seconds);
/**
 * The seconds that the rest of the run takes.
 * @param work     expected to the end of the run
 * @param outputs  still to be written
 * @return NAN: too few steps are known
 */
double eta_seconds(const struct eta *e, double work, size_t outputs);

#endif
