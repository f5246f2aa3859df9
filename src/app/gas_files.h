/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log/timings.csv and log/statistics.csv of a run of gas: headings and rows. */
#ifndef PHOTONS_APP_GAS_FILES_H
#define PHOTONS_APP_GAS_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "photons/app/step_record.h"
#include "photons/runtime/task_log.h"

void gas_timings_header(FILE *out, bool comoving);
void gas_statistics_header(FILE *out, bool comoving);
/** Whether only runs of gas run a stage: no other run's log has columns for it. */
bool stage_of_gas(uint32_t stage);
/** @param peak_bytes  resident memory, all processes */
void gas_timings_row(FILE *out, const struct step_record *record, const struct usage *cores,
                     const struct usage *gpus, double peak_bytes);
void gas_statistics_row(FILE *out, const struct step_record *record);

#endif
