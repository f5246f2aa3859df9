/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of chosen steps, recorded by StarPU through FxT. tools/trace.sh makes pictures of them.
 * (The program's own table of tasks is written by report.h.) */
#ifndef PHOTONS_TRACE_H
#define PHOTONS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/config/parameters.h"

struct trace {
  int64_t first, last, step; /**< steps to record (last < first: none); the current step */
  bool recording, recorded;  /**< whether a step is being recorded now; whether any has been
                              *   recorded in this run */
};

/**
 * Set up traces before StarPU starts: files go to OUTPUT/trace, and nothing is recorded until
 * trace_begin_step() of a chosen step. The user's STARPU_FXT_* environment variables take
 * precedence; with STARPU_FXT_TRACE=1 and no trace_steps StarPU itself records the whole run.
 */
void trace_prepare(struct trace *t, const struct parameters *p);

/** To be called before and after each step, with no task running. Step 0 is the first force
 * computation. Tasks carry the step as their iteration. */
void trace_begin_step(struct trace *t, int64_t step);
void trace_end_step(struct trace *t);

/** To be called after StarPU has ended and written the file: warns if none of the chosen steps was
 * run. */
void trace_close(const struct trace *t);

#endif
