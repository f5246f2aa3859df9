/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps as lines: log/run.log has every step. Standard output has a line now and then, or, where a
 * person looks, a progress bar. */
#ifndef PHOTONS_APP_STEP_LINES_H
#define PHOTONS_APP_STEP_LINES_H

#include <stdbool.h>

#include "photons/app/step_log.h"
#include "photons/base/console.h"

struct step_lines {
  const struct step_log *log;
  bool bar;        /**< a progress bar on standard output, no lines */
  bool details;    /**< every step, with further lines about its parts */
  double interval; /**< seconds between lines on standard output */
  double last;     /**< when the last one was printed, by wall_clock(); 0: none was */
  char held[CONSOLE_COLUMNS + 2]; /**< the newest line, which was not printed there; empty: it was */
};

/** @param interval  seconds, output.log_seconds */
struct step_lines step_lines_make(const struct step_log *log, bool details, double interval);

/**
 * Tell of a step.
 * @param cores, gpus  of all ranks
 * @param done  of the run's way in ln a, 0 .. 1
 * @param eta   seconds to the end; NAN: unknown
 * @param last  the run ends with this step: print its line in any case
 */
void step_lines_tell(struct step_lines *l, const struct step_record *record,
                     const struct usage *cores, const struct usage *gpus, double done, double eta,
                     bool last);
/** Print the newest line if it has not been printed. */
void step_lines_end(struct step_lines *l);

#endif
