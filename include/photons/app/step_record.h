/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a solver says of a step that it has taken. */
#ifndef PHOTONS_APP_STEP_RECORD_H
#define PHOTONS_APP_STEP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/analysis/galaxies.h"
#include "photons/gas/evolve.h"
#include "photons/runtime/task_log.h"
#include "photons/step/block_step.h"
#include "photons/step/escapers.h"
#include "photons/step/statistics.h"
#include "photons/tree/short_range.h"

/** One finished step. */
struct step_record {
  const struct gas_record *gas; /**< of a run of gas; NULL: of particles */
  int64_t step;
  double a, dlna, wall;         /**< dlna: of systems that do not expand the interval of time */
  uint32_t rebuilt, sorted;     /**< how often */
  size_t particles;             /**< of the run; of gas: cells without finer ones */
  uint64_t kicked;              /**< particles, counted each time that they get a force; of gas:
                                      cells, counted each time that they are advanced */
  struct work_counts work;      /**< of all its forces */
  uint64_t rungs[RUNGS];        /**< particles on each rung at its beginning */
  double cone_files;            /**< seconds of writing files of the light cone, until they ended */
  double cone_waited;           /**< and of them those in which the step waited */
  uint32_t cone_count;          /**< these files, */
  uint32_t cone_beside;         /**< and those of them that were written beside a step */
  struct base_step block;       /**< what block time steps did; sub_steps = 0: steps are global */
  struct statistics statistics; /**< at its end */
  const struct galaxy_measures *galaxies; /**< of isolated systems where energies are measured; else
                                           *   NULL */
  size_t galaxy_count;
  const struct escapers *escapers; /**< taken out before the step; NULL: none */
  struct owner_seconds
      owners; /**< report_step() adds the time of each group's tasks; see task_log_take() */
};

/** Deepest rung with a number; 0 if there is none. */
static inline int deepest_rung(const uint64_t by_rung[RUNGS]) {
  int deepest = RUNG_MOST;
  while (deepest > 0 && by_rung[deepest] == 0) deepest--;
  return deepest;
}

#endif
