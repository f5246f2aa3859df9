/* Traces of chosen steps, recorded by StarPU through FxT (the program's own table of tasks is report.h's); tools/trace.sh makes pictures. */
#ifndef PHOTONS_TRACE_H
#define PHOTONS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/config/parameters.h"

struct trace {
  int64_t first, last, step; /**< steps to record (last < first: none); the present one */
  bool recording, recorded;  /**< now; at some time of this run */
};

/**
 * Before StarPU starts: record into OUTPUT/trace, and nothing until a step is chosen. STARPU_FXT_* settings of the user win;
 * with STARPU_FXT_TRACE=1 and no trace_steps StarPU itself records the whole run.
 */
void trace_prepare(struct trace *t, const struct parameters *p);

/** Around each step, with no tasks under way; step 0 is the first forces. Tasks carry the step as their iteration. */
void trace_begin_step(struct trace *t, int64_t step);
void trace_end_step(struct trace *t);

/** After StarPU has ended and written the file: warn if none of the chosen steps was run. */
void trace_close(const struct trace *t);

#endif
