/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops of the analysis as StarPU tasks of the lowest priority. */
#ifndef PHOTONS_ANALYSIS_TASKS_H
#define PHOTONS_ANALYSIS_TASKS_H

#include <stdint.h>

/** Stages of the analysis; traces show their names. */
enum analysis_stage { ANALYSIS_FOF, ANALYSIS_HALOS, ANALYSIS_POWER, ANALYSIS_IMAGE, ANALYSIS_IC, ANALYSIS_FFT };

/** Run function(context, i) for i < n as tasks and wait for these tasks, not for others. The tasks
 * have the lowest priority. If StarPU does not run, the calling thread runs the loop. */
void analysis_for(enum analysis_stage stage, uint32_t n, void (*function)(void *context, uint32_t i), void *context);

#endif
