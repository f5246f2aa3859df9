/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a run will still take. The seconds per unit of ln a grow with structure: adaptive steps
 * become shorter, rungs of block steps deeper. A power law in a is fitted to the recent past
 * (weighted least squares of log(seconds per unit of ln a) against ln a) and integrated to the end.
 * Outputs that are still to come take the mean of those written. */
#ifndef PHOTONS_APP_ETA_H
#define PHOTONS_APP_ETA_H

#include <stddef.h>

/** Weighted sums over the steps so far; x is ln a of a step's middle minus the present ln a. All
 * zero: no step yet. */
struct eta {
  double weight, x, xx;    /**< sums of w, w x and w x^2 */
  double cost, log, x_log; /**< sums of w c, w log(c) and w x log(c), c: seconds per unit of ln a */
  double output_seconds;   /**< of all outputs written */
  size_t steps, outputs;   /**< counted */
};

/** Count a step. @param dlna  its length in ln a  @param seconds  that it took */
void eta_step(struct eta *e, double dlna, double seconds);
/** Count an output. */
void eta_output(struct eta *e, double seconds);
/**
 * The seconds that the rest of the run takes.
 * @param ahead    ln a of the end of the run minus the present ln a
 * @param outputs  still to be written
 * @return NAN: too few steps are known
 */
double eta_seconds(const struct eta *e, double ahead, size_t outputs);

#endif
