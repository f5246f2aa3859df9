/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log/timings.csv and log/statistics.csv: one row a step. Rank 0 writes them. A number that is not
 * finite ends the run (output_text.h). */
#ifndef PHOTONS_APP_STEP_FILES_H
#define PHOTONS_APP_STEP_FILES_H

#include <stdint.h>
#include <stdio.h>

#include "photons/app/step_log.h"
#include "photons/config/parameters.h"

struct galaxy_bars;

struct step_files {
  const struct step_log *log;
  char folder[PARAMETER_PATH_MAX + 32];
  FILE *timings, *statistics;
  FILE *energy, *galaxy, *escapers; /**< of isolated systems; otherwise NULL */
  unsigned
      types; /**< bits of the types of particles that have columns in log/energy.csv and galaxy.csv */
  struct galaxy_bars *bars; /**< in the last rows of log/galaxy.csv */
};

/** Open the files in an existing folder. Rows of steps after `last_step` are removed: those steps
 * are taken again. */
struct step_files step_files_open(const char *folder, int64_t last_step, const struct parameters *p,
                                  const struct step_log *log);
/** @param peak_bytes  resident memory, all processes */
void step_files_write(struct step_files *f, const struct step_record *record,
                      const struct usage *cores, const struct usage *gpus, double peak_bytes);
void step_files_close(struct step_files *f);
/** Write a table with the columns of log/energy.csv and one row. */
void step_files_write_energy(const char *path, const struct step_record *record);

#endif
