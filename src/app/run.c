/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of a run: steps from output to output, checkpoints, signals, the end. */
#include "photons/app/run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "photons/app/nbody_run.h"
#include "photons/app/report.h"
#include "photons/app/solver.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "photons/runtime/trace.h"

struct run {
  struct parameters *parameters;
  const struct run_options *options;
  struct solver solver;
  struct progress now;
  struct timeline timeline;
  struct report report;
  struct trace trace;
  double checkpoint_wall; /* when the last checkpoint was written */
};

static volatile sig_atomic_t caught_signal; /* a handler may touch nothing else */

static void note_signal(int number) { caught_signal = number; }

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = note_signal,
                             .sa_flags = SA_RESTART | (int)SA_RESETHAND}; /* a second one ends at once */
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0 ||
      sigaction(SIGUSR1, &action, NULL) != 0) /* mpirun passes this one on and waits */
    fail(EXIT_RUN_FAILED, "cannot install signal handlers: %s", strerror(errno));
}

static void checkpoint_path(char *out, size_t size, const struct parameters *p) {
  snprintf(out, size, "%s/checkpoint.hdf5", p->output.dir);
}

static bool speaks(const struct run *r) { return r->options->verbosity > 0 && comm_rank() == 0; }

static bool output_due(void *context, double a) {
  const struct run *r = context;
  return (size_t)r->now.outputs_done < timeline_outputs_until(&r->timeline, a);
}

static void write_output(struct run *r) {
  const double start = wall_clock();
  report_pause(&r->report);
  const double beside = r->solver.write(r->solver.state, &r->now, (size_t)r->now.outputs_done);
  const double spent = wall_clock() - start;
  r->report.output_seconds += spent;
  if (speaks(r))
    printf("output %lld at z = %.4g written in %.2f s%s\n", (long long)r->now.outputs_done,
           1.0 / r->now.a - 1.0, spent + beside,
           beside > 0.0 ? ", part of it beside the step's forces" : "");
}

static void write_due_outputs(struct run *r) {
  for (; output_due(r, r->now.a); r->now.outputs_done++) write_output(r);
}

static void write_checkpoint(struct run *r) {
  char path[PARAMETER_PATH_MAX + 32];
  checkpoint_path(path, sizeof path, r->parameters);
  r->now.wall_seconds = r->report.wall;
  r->solver.checkpoint(r->solver.state, path, &r->now);
  r->checkpoint_wall = wall_clock();
  report_pause(&r->report);
  if (speaks(r)) printf("checkpoint at z = %.4g written to %s\n", 1.0 / r->now.a - 1.0, path);
}

static void first_forces(struct run *r) {
  struct step_record record = {.step = r->now.step, .a = r->now.a};
  const double start = wall_clock();
  trace_begin_step(&r->trace, r->now.step);
  const bool computed = r->solver.begin(r->solver.state, r->options->restart, &record);
  trace_end_step(&r->trace);
  record.wall = wall_clock() - start;
  if (computed) report_step(&r->report, &record);
}

static void take_step(struct run *r) {
  struct step_record record = {.step = r->now.step + 1};
  const double start = wall_clock(), a0 = r->now.a;
  trace_begin_step(&r->trace, record.step);
  r->solver.step(r->solver.state, &r->now, output_due, r, &record);
  trace_end_step(&r->trace);
  r->now.step++;
  record.a = r->now.a;
  record.dlna = log(record.a / a0);
  record.wall = wall_clock() - start;
  report_step(&r->report, &record);
}

static bool finished(const struct run *r) {
  const int64_t limit = r->options->steps;
  return r->now.a >= r->timeline.end * (1.0 - 1e-12) || (limit >= 0 && r->now.step >= limit);
}

/** What any process has noticed, or the first one's clock says, all do. */
struct events {
  double signal, checkpoint;
};

static struct events events_now(const struct run *r) {
  const double interval = 60.0 * r->parameters->output.checkpoint_minutes;
  struct events e = {.signal = (double)caught_signal};
  if (comm_rank() == 0) e.checkpoint = interval > 0.0 && wall_clock() - r->checkpoint_wall > interval;
  double both[2] = {e.signal, e.checkpoint};
  comm_max_double(both, 2);
  return (struct events){both[0], both[1]};
}

static int run_steps(struct run *r) {
  first_forces(r);
  write_due_outputs(r);
  struct events e = events_now(r);
  while (!finished(r) && e.signal == 0.0) {
    take_step(r);
    write_due_outputs(r);
    e = events_now(r);
    if (e.checkpoint > 0.0 && e.signal == 0.0) write_checkpoint(r);
  }
  const int signal_number = (int)e.signal;
  if (signal_number == 0) return 0;
  write_checkpoint(r);
  report_pause(&r->report);
  if (comm_rank() == 0)
    fprintf(stderr, "photons-starpu: stopped by signal %d after step %lld; go on with --restart\n",
            signal_number, (long long)r->now.step);
  return 128 + signal_number;
}

static void write_used_parameters(const struct parameters *p) {
  if (comm_rank() > 0) return;
  char path[PARAMETER_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/config-used.ini", p->output.dir);
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  parameters_print(p, file);
  output_close(file, path);
  output_commit(temporary, path);
}

int run_simulation(struct parameters *p, const struct run_options *options) {
  struct run r = {.parameters = p, .options = options, .checkpoint_wall = wall_clock()};
  if (options->dry_run) {
    nbody_run_dry(p);
    return 0;
  }
  if (nbody_run_generated(p) > 0) nbody_run_require_memory(p, nbody_run_generated(p));
  output_folder(p->output.dir);
  engine_start(p, &r.trace);
  message_start(p);
  catch_signals();
  char path[PARAMETER_PATH_MAX + 32];
  checkpoint_path(path, sizeof path, p);
  r.solver = nbody_run_create(p, options, &r.report, options->restart ? path : NULL, &r.now, &r.timeline);
  if (r.timeline.end <= r.now.a && options->steps != 0 && !options->restart)
    fail(EXIT_BAD_USAGE, "time.z_end = %g is not after the initial conditions at z = %g",
         p->time.z_end, 1.0 / r.now.a - 1.0);
  write_used_parameters(p);
  report_begin(&r.report, p, options, r.solver.describe, r.solver.state, r.now.a, r.timeline.end,
               r.now.wall_seconds);
  const int code = run_steps(&r);
  report_end(&r.report, p->output.dir);
  r.solver.end(r.solver.state);
  message_stop();
  engine_stop();
  trace_close(&r.trace);
  return code;
}
