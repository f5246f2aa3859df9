/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user sees of a run: banner, steps, summary; and the files in the folder log. */
#ifndef PHOTONS_REPORT_H
#define PHOTONS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/app/eta.h"
#include "photons/app/rank_log.h"
#include "photons/app/run.h"
#include "photons/app/solver.h"
#include "photons/app/step_files.h"
#include "photons/app/step_lines.h"
#include "photons/app/step_record.h"
#include "photons/runtime/task_log.h"
#include "photons/step/timeline.h"

struct report {
  const struct timeline *timeline;
  const struct step_log *log;
  struct step_files files; /**< of the first process only */
  FILE *rows;              /**< of tasks of the steps first_row .. last_row; NULL: none wanted */
  FILE *graph;             /**< what the main thread submitted in these steps, or NULL */
  int64_t first_row, last_row;
  int64_t last_step; /**< where --steps ends the run; -1: nowhere */
  struct step_lines lines;
  struct rank_log ranks;
  struct eta eta;
  struct cosmology universe; /**< for the work ahead; static where there are no redshifts */
  double wall; /**< seconds since the start, earlier sessions of a restarted run included */
  struct usage cores, gpus;         /**< busy seconds of the whole run, all processes */
  double core_seconds, gpu_seconds; /**< that there were in steps */
  double peak_bytes;                /**< resident memory, all processes */
  size_t particles;                 /**< of the last step */
  uint64_t particle_steps;
};

/** Where a run begins or goes on. */
struct report_start {
  bool restarted;
  double a;
  int64_t step;        /**< steps done before: what the files have of later steps is taken again */
  int64_t last_step;   /**< where --steps ends the run; -1: nowhere */
  double wall_seconds; /**< that they took */
};

/**
 * Open the files of the folder log (appended to on restart), print the banner, begin the log of
 * tasks. Collective, as is all of this.
 * @param timeline  of the run; must outlive the report
 * @param state  of the solver, which has its word in the banner
 */
void report_begin(struct report *r, const struct parameters *p, const struct run_options *options,
                  const struct solver *solver, void *state, const struct timeline *timeline,
                  const struct report_start *start);
/** Tell of a step; takes the log of tasks. */
void report_step(struct report *r, const struct step_record *record);
/** An output has taken so many seconds. */
void report_output(struct report *r, double seconds);
/** Where the time went, memory, and which files are in the folder.
 * @param stopped  before the end of the run, because it was asked to */
void report_end(struct report *r, const char *dir, bool stopped);
/** Close log/run.log. Nothing is said after this. */
void report_close(bool stopped);

#endif
