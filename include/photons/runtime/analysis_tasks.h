/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops of the analysis as tasks. */
#ifndef PHOTONS_ANALYSIS_TASKS_H
#define PHOTONS_ANALYSIS_TASKS_H

#include <stdint.h>

/** What a trace calls the tasks. */
enum analysis_stage { ANALYSIS_FOF, ANALYSIS_HALOS, ANALYSIS_POWER, ANALYSIS_IMAGE, ANALYSIS_IC, ANALYSIS_FFT };

/** Run function(context, i) for i < n as tasks and wait for them, not for others; they have the lowest priority. One after the
 * other where StarPU does not run. */
void analysis_for(enum analysis_stage stage, uint32_t n, void (*function)(void *context, uint32_t i), void *context);

#endif
