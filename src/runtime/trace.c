/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of chosen steps, through StarPU's FxT interface. */
#include "photons/runtime/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

static void set_default(const char *variable, const char *value) {
  if (setenv(variable, value, 0) != 0)
    fail(EXIT_RUN_FAILED, "cannot set %s: %s", variable, strerror(errno));
}

void trace_prepare(struct trace *t, const struct parameters *p) {
  *t = (struct trace){.first = 0, .last = -1};
  if (!*p->runtime.trace_steps ||
      !parameter_step_range(p->runtime.trace_steps, &t->first, &t->last))
    return;
#ifndef STARPU_USE_FXT
  if (comm_rank() == 0)
    warn("this build's StarPU has no FxT: trace/tasks_*.csv will list which worker ran which task "
         "when, but there "
         "will be no trace of StarPU's own; tools/build-starpu.sh builds one that has it");
#endif
  char folder[PARAMETER_PATH_MAX + 16];
  snprintf(folder, sizeof folder, "%s/trace", p->output.dir);
  set_default("STARPU_FXT_TRACE", "1");
  set_default("STARPU_FXT_PREFIX", folder); /* StarPU makes the folder */
  set_default("STARPU_FXT_SUFFIX", "fxt");  /* StarPU appends the rank */
  starpu_fxt_autostart_profiling(0);
}

void trace_begin_step(struct trace *t, int64_t step) {
  t->step = step;
  if (step >= t->first && step <= t->last && !t->recording) {
    starpu_fxt_start_profiling();
    t->recording = t->recorded = true;
  }
  starpu_iteration_push((unsigned long)step);
}

void trace_end_step(struct trace *t) {
  starpu_iteration_pop();
  if (t->recording && t->step >= t->last) {
    starpu_fxt_stop_profiling();
    t->recording = false;
  }
}

void trace_close(const struct trace *t) {
  if (t->last >= t->first && !t->recorded && comm_rank() == 0)
    warn("runtime.trace_steps = %" PRId64 ":%" PRId64
         " recorded nothing: the run ended at step %" PRId64,
         t->first, t->last, t->step);
}
