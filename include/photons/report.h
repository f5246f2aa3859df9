/* What the user sees: banner, step lines or progress bar, log/timings.csv, summary. */
#ifndef PHOTONS_REPORT_H
#define PHOTONS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/run.h"
#include "photons/simulation.h"

struct report {
  FILE *csv;
  int verbosity;
  bool terminal;         /**< progress bar instead of step lines */
  double begin, end;     /**< ln a of the run, for the progress */
  double wall;           /**< seconds since the start, earlier sessions of a restarted run included */
  double stage[STAGES];  /**< busy seconds of the whole run */
  double busy, idle;     /**< worker seconds in steps, and those without work */
  double output_seconds; /**< spent on outputs */
  uint64_t particle_steps;
  double rate; /**< smoothed wall seconds per unit of ln a */
};

/** One finished step. */
struct step_record {
  int64_t step;
  double a, dlna, wall;
  bool rebuilt;
};

/** Pairs, M2L and walk visits of the last force computation. */
struct work_counts {
  uint64_t pairs, interactions, visits;
};
struct work_counts simulation_work(const struct simulation *s);

/** Open log/timings.csv in the output folder (appended to on restart) and print the banner. */
void report_begin(struct report *r, const struct simulation *s, const struct run_options *options, double a,
                  double a_end, double wall_before);
/** One line a step, or the progress bar; takes the busy times out of the workers' counters. */
void report_step(struct report *r, struct simulation *s, const struct step_record *record);
/** Leave the progress bar's line, so that other text may follow. */
void report_pause(const struct report *r);
/** Where the time went, memory, files. */
void report_end(struct report *r, const struct simulation *s, const char *dir);
/** --dry-run: resolved parameters, groups, memory. */
void report_dry_run(const struct parameters *p, size_t particles, double mass);
/** Wall clock in seconds. */
double wall_clock(void);

#endif
