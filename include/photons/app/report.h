/* What the user sees: banner, step lines or progress bar, log/timings.csv, summary. */
#ifndef PHOTONS_REPORT_H
#define PHOTONS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/app/run.h"
#include "photons/runtime/task_log.h"
#include "photons/step/block_step.h"
#include "photons/tree/short_range.h"

struct report {
  FILE *csv;  /**< of the first process only */
  FILE *rows; /**< of tasks of the steps first_row .. last_row; NULL: none wanted */
  int64_t first_row, last_row;
  int verbosity;
  bool terminal;     /**< progress bar instead of step lines */
  double begin, end; /**< ln a of the run, for the progress */
  double wall;       /**< seconds since the start, earlier sessions of a restarted run included */
  struct usage cores, gpus;         /**< busy seconds of the whole run, all processes */
  double core_seconds, gpu_seconds; /**< that there were in steps */
  double peak_bytes;                /**< resident memory, all processes */
  double output_seconds;            /**< spent on outputs */
  size_t particles;                 /**< of the last step */
  uint64_t particle_steps;
  double rate; /**< smoothed wall seconds per unit of ln a */
};

/** One finished step. */
struct step_record {
  int64_t step;
  double a, dlna, wall;
  bool rebuilt, sorted;
  size_t particles;        /**< of the run */
  uint64_t kicked;         /**< particles, counted each time that they get a force */
  struct work_counts work; /**< of all its forces */
  uint64_t rungs[RUNGS];   /**< particles on each rung at its beginning */
  struct base_step block;  /**< what block time steps did; sub_steps = 0: steps are global */
  double
      *owner_seconds; /**< report_step() adds the time of each group's tasks; see task_log_take() */
};

/**
 * Open log/timings.csv in the output folder (appended to on restart), print the banner, begin the log of
 * tasks. Collective, as is all of this.
 * @param steps  done before: what the log has of later steps is taken again
 * @param print  prints what the solver has to say in the banner
 */
void report_begin(struct report *r, const struct parameters *p, const struct run_options *options,
                  void (*print)(void *context, FILE *out), void *context, double a, double a_end,
                  int64_t steps, double wall_before);
/** One line a step, or the progress bar; takes the log of tasks. */
void report_step(struct report *r, const struct step_record *record);
/** Leave the progress bar's line, so that other text may follow. */
void report_pause(const struct report *r);
/** Where the time went, memory, and which files are in the folder.
 * @param stopped  before the end of the run, because it was asked to */
void report_end(struct report *r, const char *dir, bool stopped);

#endif
