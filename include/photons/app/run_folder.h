/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the output folder of a run tells while the run goes on and afterwards. */
#ifndef PHOTONS_APP_RUN_FOLDER_H
#define PHOTONS_APP_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/app/csv.h"
#include "photons/base/folder_lock.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"

/** By the last line of log/run.log that begins or ends a run. */
enum run_end { RUN_UNKNOWN, RUN_BEGUN, RUN_STOPPED, RUN_FAILED, RUN_ENDED };

/** The newest power spectrum. */
struct run_spectrum {
  long number; /**< of its output; -1: there is none */
  double z;
  double *k, *power; /**< h/Mpc and (Mpc/h)^3; malloc'ed */
  size_t count;
};

enum { RUN_MESSAGES = 4 };

struct run_folder {
  const char *path;
  bool goes_on;                    /**< a process holds the lock of the folder */
  char holder[FOLDER_LOCK_HOLDER]; /**< that process */
  bool isolated;                   /**< of an isolated system: times in Myr, no redshifts */
  bool gas;                        /**< of gas */
  bool clock;                      /**< of gas in a box at rest: times in units of its own */
  double end_time;                 /**< redshift, Myr or time; NAN: not known */
  double output_times[PARAMETER_LIST_MAX]; /**< redshifts, Myr or times */
  size_t output_time_count;
  struct cosmology universe; /**< of a run with redshifts */
  struct csv timings, statistics;
  double age; /**< seconds since the last row of log/timings.csv; NAN: there is none */
  enum run_end end;
  char *log;                    /**< the last lines of log/run.log; NULL: there is none */
  char *messages[RUN_MESSAGES]; /**< in `log`: its last warnings and errors, the newest first */
  double output_seconds;        /**< of the outputs in `log`, */
  size_t output_count;          /**< their number */
  long *outputs;                /**< numbers of all outputs with files in the folder, rising */
  size_t outputs_written;
  struct run_spectrum spectrum;
};

/** Whether the folder is one of a run or an analysis.
 * @param[out] reason  why not */
bool run_folder_valid(const char *path, const char **reason);

/** Read what is there; nothing is written. A file that is missing leaves its part empty. */
void run_folder_read(struct run_folder *f, const char *path);
void run_folder_free(struct run_folder *f);

#endif
