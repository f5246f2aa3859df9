/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the steps of one kind of system are told: in the files of the folder log, and in lines. */
#ifndef PHOTONS_APP_STEP_LOG_H
#define PHOTONS_APP_STEP_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "photons/app/step_record.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/task_log.h"

struct step_log {
  /** What is counted: of time, and of work. */
  const char *things, *thing; /**< "particles", "particle" */
  const char *work;           /**< "particle-steps" */

  /** The columns of a step's time and length, after the number of the step. */
  const char *time_columns, *length_column;
  void (*write_time)(FILE *out, const struct step_record *record);
  double (*length)(const struct step_record *record);

  /** The columns after these in log/timings.csv and log/statistics.csv. Lines have no newline.
   * @param peak_bytes  resident memory, all processes */
  void (*write_timings_columns)(FILE *out);
  void (*write_timings)(FILE *out, const struct step_record *record, const struct usage *cores,
                        const struct usage *gpus, double peak_bytes);
  void (*write_statistics_columns)(FILE *out, const struct parameters *p);
  void (*write_statistics)(FILE *out, const struct step_record *record);

  bool has_energies; /**< log/energy.csv and log/escapers.csv, too */

  /** For lines: the time of a step, with its length where that is wanted; where the time of a kind of
   * device went; and what -v adds. */
  struct moment_text (*text)(const struct step_record *record, bool length);
  void (*print_shares)(FILE *out, const struct usage *u);
  void (*print_details)(FILE *out, const struct step_record *record);
};

extern const struct step_log log_of_box, log_of_isolated, log_of_gas, log_of_comoving_gas;

/** Text of a time with redshifts. */
struct moment_text step_text_of_redshift(const struct step_record *record, bool length);
/** The columns of the busy time of the stages that gas has, or has not, on cores or on GPUs, and a step's
 * numbers in them. */
void stage_columns(FILE *out, bool gas);
void stage_seconds(FILE *out, bool gas, const struct step_record *record, const struct usage *cores,
                   const struct usage *gpus);

#endif
