/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of a run: steps from output to output, checkpoints, wishes to stop, the end. */
#include "photons/app/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/app/gas_run.h"
#include "photons/app/nbody_run.h"
#include "photons/app/report.h"
#include "photons/app/results.h"
#include "photons/app/solver.h"
#include "photons/app/stop.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/base/folder_lock.h"
#include "photons/base/heartbeat.h"
#include "photons/base/output_file.h"
#include "photons/ic/start.h"
#include "photons/runtime/background.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/trace.h"

struct path {
  char text[PARAMETER_PATH_MAX + 64];
};

struct run {
  struct parameters *parameters;
  const struct run_options *options;
  const struct solver *solver;
  void *state; /* the solver's */
  struct progress now;
  struct timeline timeline;
  struct report report;
  struct trace trace;
  size_t outputs_passed;         /* of those in the timeline */
  int64_t first_step;            /* steps done before this start of the program */
  int64_t last_step;             /* where --steps ends the run; -1: nowhere */
  int64_t saved_step;            /* steps done at the last checkpoint; -1: there is none */
  bool stopped;                  /* before its end, because it was asked to */
  int64_t frames;                /* of the movie, drawn since this start of the program */
  double movie_seconds;          /* spent on them */
  double start, checkpoint_wall; /* by the wall clock: of the program, and its last checkpoint */
  double longest_step, longest_turn, longest_checkpoint; /* seconds */
};

/** A file in output.dir. */
static struct path path_of(const struct run *r, const char *name) {
  struct path path;
  snprintf(path.text, sizeof path.text, "%s/%s", r->parameters->output.dir, name);
  return path;
}

static double redshift(double a) { return 1.0 / a - 1.0; }

/** The present moment, for messages. */
static struct moment_text moment(const struct run *r) {
  return r->solver->moment(r->parameters, r->now.a);
}

static bool output_due(void *context, double a) {
  const struct run *r = context;
  return r->outputs_passed < timeline_outputs_until(&r->timeline, a);
}

static void write_output(struct run *r) {
  const double start = wall_clock();
  const double beside = r->solver->write(r->state, &r->now, (size_t)r->now.outputs_done);
  const double spent = wall_clock() - start;
  report_output(&r->report, spent + beside);
  say("output %" PRId64 " at %s %s in %.2f s%s\n", r->now.outputs_done, moment(r).text,
      background_begun() ? "begun" : "written", spent + beside,
      beside > 0.0 ? ", part of it beside the step's forces" : "");
  r->now.outputs_done++;
  r->now.last_output = r->now.a;
}

static void write_due_outputs(struct run *r) {
  for (; output_due(r, r->now.a); r->outputs_passed++) write_output(r);
}

static bool at_end(const struct run *r) { return timeline_ended(&r->timeline, r->now.a); }

/** Moment that frame k of the movie is meant for. */
static double frame_time(const struct run *r, int64_t k) {
  const struct timeline *t = &r->timeline;
  const int64_t last = r->parameters->output.movie - 1;
  const double way = moment_interval(t->is_time, t->begin, t->end);
  return last > 0 ? moment_after(t->is_time, t->begin, way * (double)k / (double)last) : t->end;
}

/** Draw the frames whose times are nearer, in ln a or in time, to the present than to the ends of the step
 * before and of the step to come. All three are the same after a restart: no frame is drawn twice.
 * @param before  where the last step began; below all moments: none was taken */
static void write_frames(struct run *r, double before) {
  const int64_t frames = r->parameters->output.movie;
  if (frames == 0) return;
  const double start = wall_clock();
  const double next = at_end(r) ? INFINITY : r->solver->next(r->state, &r->now);
  const double from = before < r->timeline.begin
                          ? before
                          : moment_middle(r->timeline.is_time, before, r->now.a),
               to = moment_middle(r->timeline.is_time, r->now.a, next);
  for (int64_t k = 0; k < frames; k++) {
    const double a = frame_time(r, k);
    if (a < from || a >= to) continue;
    char name[48];
    snprintf(name, sizeof name, "movie/frame_%04" PRId64 ".png", k);
    r->solver->frame(r->state, &r->now, path_of(r, name).text);
    r->frames++;
  }
  r->movie_seconds += wall_clock() - start;
}

static void write_checkpoint(struct run *r) {
  const struct path path = path_of(r, "checkpoint.hdf5");
  output_settle();
  const double start = wall_clock(), before = (double)output_bytes();
  r->now.wall_seconds = r->report.wall;
  r->solver->checkpoint(r->state, path.text, &r->now);
  stop_checkpoint_stands(path.text, moment(r).text);
  r->saved_step = r->now.step;
  r->checkpoint_wall = wall_clock();
  const double seconds = r->checkpoint_wall - start, gb = 1e-9 * ((double)output_bytes() - before);
  r->longest_checkpoint = fmax(r->longest_checkpoint, seconds);
  say("checkpoint at %s written to %s: %.3g GB, %.3g GB/s\n", moment(r).text, path.text, gb,
      gb / seconds);
}

static void first_forces(struct run *r) {
  struct step_record record = {.step = r->now.step, .a = r->now.a};
  const double start = wall_clock();
  trace_begin_step(&r->trace, r->now.step);
  const bool computed = r->solver->begin(r->state, r->options->restart, &record);
  trace_end_step(&r->trace);
  record.wall = r->longest_step = wall_clock() - start;
  if (computed) report_step(&r->report, &record);
}

static bool unsaved(const struct run *r) {
  return r->now.step > r->first_step && r->now.step > r->saved_step;
}

/** A step that does not advance is an end, too: one that keeps what was reached. */
static void require_advance(struct run *r) {
  bool sound = false;
  const char *reason = r->solver->stuck(r->state, &r->now, &sound);
  if (!reason) return;
  if (sound && unsaved(r)) write_checkpoint(r);
  fail(EXIT_RUN_FAILED, "%s; %s", reason, stop_what_stands());
}

/** How long a step may go on after a signal. */
static double patience(const struct run *r) {
  const double grace = r->parameters->runtime.signal_grace;
  return grace > 0.0 ? fmax(grace, 2.0 * r->longest_step) : 0.0;
}

static void take_step(struct run *r) {
  struct step_record record = {.step = r->now.step + 1};
  const double start = wall_clock(), a0 = r->now.a;
  stop_enter(STOP_STEP, patience(r));
  trace_begin_step(&r->trace, record.step);
  r->solver->step(r->state, &r->now, output_due, r, &record);
  trace_end_step(&r->trace);
  r->now.step++;
  record.a = r->now.a;
  record.dlna = moment_interval(r->timeline.is_time, a0, record.a);
  record.wall = wall_clock() - start;
  r->longest_step = fmax(r->longest_step, record.wall);
  report_step(&r->report, &record);
  stop_enter(STOP_SAVING, 0.0);
}

static bool steps_done(const struct run *r) {
  return r->last_step >= 0 && r->now.step >= r->last_step;
}

static bool finished(const struct run *r) { return at_end(r) || steps_done(r); }

/** Whether someone has made this file in output.dir. It is removed with the question. */
static bool asked_by_file(const struct run *r, const char *name) {
  return unlink(path_of(r, name).text) == 0;
}

/** Whether another step and a checkpoint after it may not fit into the time that is left. How long
 * a checkpoint takes is not known before the first: as long as a step, then. */
static bool time_is_up(const struct run *r) {
  const double limit = 3600.0 * r->parameters->runtime.wall_time;
  const double turn = fmax(r->longest_turn, r->longest_step);
  const double checkpoint = r->longest_checkpoint > 0.0 ? r->longest_checkpoint : turn;
  return limit > 0.0 && wall_clock() - r->start + 1.5 * (turn + checkpoint) > limit;
}

/** What any process has noticed, or the first one sees, all do. */
struct events {
  double signal, stop_file, no_time, output, checkpoint; /* 0: no */
};

static struct events events_now(const struct run *r) {
  const double interval = 60.0 * r->parameters->output.checkpoint_minutes;
  struct events e = {.signal = (double)stop_signal()};
  if (comm_rank() == 0) {
    e.stop_file = asked_by_file(r, "stop");
    e.no_time = time_is_up(r);
    e.output = asked_by_file(r, "output-now");
    e.checkpoint = interval > 0.0 && wall_clock() - r->checkpoint_wall > interval;
  }
  comm_max_double(&e.signal, sizeof e / sizeof e.signal);
  return e;
}

/** The events, of which an output is taken care of at once. An output just written will do. */
static struct events take_events(struct run *r) {
  const struct events e = events_now(r);
  if (e.output > 0.0 && r->now.last_output < r->now.a) write_output(r);
  return e;
}

static bool asked_to_stop(const struct events *e) {
  return e->signal > 0.0 || e->stop_file > 0.0 || e->no_time > 0.0;
}

/** A step, with all that is written after it. */
static struct events take_turn(struct run *r) {
  const double start = wall_clock();
  require_advance(r);
  const double before = r->now.a;
  take_step(r);
  output_check();
  write_due_outputs(r);
  write_frames(r, before);
  const struct events e = take_events(r);
  r->longest_turn = fmax(r->longest_turn, wall_clock() - start);
  if (e.checkpoint > 0.0 && !asked_to_stop(&e)) write_checkpoint(r);
  return e;
}

static void say_stopped(const struct run *r, const struct events *e) {
  char why[PARAMETER_PATH_MAX + 96] = "runtime.wall_time", when[64] = "before the first step";
  if (e->stop_file > 0.0) snprintf(why, sizeof why, "the file %s", path_of(r, "stop").text);
  if (e->signal > 0.0) snprintf(why, sizeof why, "signal %d", (int)e->signal);
  if (r->now.step > r->first_step) snprintf(when, sizeof when, "after step %" PRId64, r->now.step);
  notify("stopped by %s %s: %s", why, when, stop_what_stands());
}

/** @return the exit code */
static int run_steps(struct run *r) {
  first_forces(r);
  stop_enter(STOP_SAVING, 0.0); /* from here on the ranks agree on a stop: one of them says so */
  write_due_outputs(r);
  if (!r->options->restart) write_frames(r, -INFINITY);
  struct events e = take_events(r);
  while (!finished(r) && !asked_to_stop(&e)) e = take_turn(r);
  r->stopped = asked_to_stop(&e) && !at_end(r);
  /* Who has checkpoints wants the last one, too: it knows that the run has ended. */
  const bool keeps = r->parameters->output.checkpoint_minutes > 0.0 || r->saved_step >= 0;
  if (unsaved(r) && (!at_end(r) || keeps)) write_checkpoint(r); /* --steps stops a run, too */
  if (r->solver->settle) r->solver->settle(r->state);
  output_settle();
  if (r->stopped) say_stopped(r, &e);
  return r->stopped && e.signal > 0.0 ? 128 + (int)e.signal : 0;
}

static void write_used_parameters(const struct run *r) {
  if (comm_rank() > 0) return;
  const struct path path = path_of(r, "config-used.ini");
  char *temporary = output_begin(path.text);
  FILE *file = output_open(temporary);
  parameters_print(r->parameters, file);
  output_close(file, path.text);
  output_commit(temporary, path.text);
}

/** A folder with results of another run is refused; a dry run warns of that. */
static void check_folder(const struct run *r) {
  if (r->options->restart || r->options->overwrite || comm_rank() > 0) return;
  static const char text[] = "the folder %s holds results of another run, such as %s: go on with "
                             "that run (--restart), replace its results (--overwrite), or choose "
                             "another output.dir";
  char *example = results_example(r->parameters->output.dir);
  if (example && !r->options->dry_run)
    fail(EXIT_BAD_USAGE, text, r->parameters->output.dir, example);
  if (example) warn(text, r->parameters->output.dir, example);
  free(example);
}

/** The folder is this run's, and no wish of an earlier one is left in it. */
static int claim_folder(const struct run *r) {
  const int lock = folder_lock(r->parameters->output.dir);
  check_folder(r);
  if (comm_rank() == 0) {
    asked_by_file(r, "stop");
    asked_by_file(r, "output-now");
    if (!r->options->restart) results_remove_traces(r->parameters->output.dir);
  }
  comm_barrier();
  return lock;
}

/** The present step is known: that of a checkpoint, or 0. */
static void begin_steps(struct run *r) {
  const struct run_options *o = r->options;
  r->first_step = r->now.step;
  r->last_step = o->steps < 0 ? -1 : o->steps + (o->steps_more ? r->first_step : 0);
}

static void create_solver(struct run *r) {
  const struct path path = path_of(r, "checkpoint.hdf5");
  const bool restart = r->options->restart;
  if (restart) stop_checkpoint_stands(path.text, "");
  r->state = r->solver->create(r->parameters, restart ? path.text : NULL, &r->now, &r->timeline);
  begin_steps(r);
  r->saved_step = restart ? r->now.step : -1;
  if (restart) stop_checkpoint_stands(path.text, moment(r).text);
}

static void check_times(const struct run *r) {
  const struct parameters *p = r->parameters;
  const size_t given = p->output.redshift_count, ahead = r->timeline.outputs;
  if (r->options->restart) return;
  if (r->timeline.end <= r->now.a && r->options->steps != 0)
    fail(EXIT_BAD_USAGE,
         "time.z_end = %g is not after the initial conditions at z = %g: the run would have no "
         "step; --steps 0 makes outputs of the initial conditions alone, and --analyse examines a "
         "file",
         p->time.z_end, redshift(r->now.a));
  if (given > ahead && comm_rank() == 0)
    warn("output.redshifts: %zu of them, z = %g the highest, lie before the initial conditions at "
         "z = %g and are left out",
         given - ahead, p->output.redshifts[0], redshift(r->now.a));
}

static int run_to_end(struct run *r) {
  const struct parameters *p = r->parameters;
  /* What is there may go, as check_folder() has seen. */
  if (!r->options->restart && comm_rank() == 0) results_remove(p->output.dir);
  write_used_parameters(r);
  const struct report_start start = {.restarted = r->options->restart,
                                     .a = r->now.a,
                                     .step = r->now.step,
                                     .last_step = r->last_step,
                                     .wall_seconds = r->now.wall_seconds};
  report_begin(&r->report, p, r->options, r->solver, r->state, &r->timeline, &start);
  if (p->output.movie > 0 && comm_rank() == 0) output_folder(path_of(r, "movie").text);
  if (p->lightcone.geometry != CONE_NONE && comm_rank() == 0)
    output_folder(path_of(r, "lightcone").text);
  const int code = run_steps(r);
  if (r->frames > 0) say("movie       %" PRId64 " frames in %.2f s\n", r->frames, r->movie_seconds);
  report_end(&r->report, p->output.dir, r->stopped);
  return code;
}

static bool nothing_left(const struct run *r) {
  return r->options->restart && finished(r) && !output_due((void *)r, r->now.a);
}

static void say_nothing_left(const struct run *r) {
  if (at_end(r))
    say("the run has ended at %s: nothing is left to do\n", moment(r).text);
  else
    say("nothing is left to do: the checkpoint is of step %" PRId64 ", at %s, and --steps %" PRId64
        " counts from the start of the run; --steps +N takes N more steps\n",
        r->now.step, moment(r).text, r->last_step);
}

static int run_dry(struct run *r) {
  const struct path path = path_of(r, "checkpoint.hdf5");
  const bool restart = r->options->restart;
  comm_started();
  r->solver->dry(r->parameters, restart ? path.text : NULL, &r->now, &r->timeline);
  begin_steps(r);
  check_folder(r);
  check_times(r);
  if (nothing_left(r))
    say_nothing_left(r);
  else if (restart)
    say("  goes on from %s, after step %" PRId64 "\n", moment(r).text, r->now.step);
  return 0;
}

static const struct solver *solver_of(const struct parameters *p) {
  switch (system_kind_of(p)) {
  case KIND_ISOLATED: return &solver_of_isolated;
  case KIND_GAS_AT_REST: return &solver_of_gas;
  case KIND_COMOVING_GAS: return &solver_of_comoving_gas;
  default: return &solver_of_box;
  }
}

int run_simulation(struct parameters *p, const struct run_options *options) {
  const double start = wall_clock();
  struct run r = {.parameters = p,
                  .options = options,
                  .solver = solver_of(p),
                  .start = start,
                  .checkpoint_wall = start};
  ic_choose_start(p);
  ic_choose_softening(p);
  scheduler_foresee(p);
  if (r.solver->choose_devices) r.solver->choose_devices(p);
  if (options->dry_run) return run_dry(&r);
  r.solver->require_possible(p, !options->restart);
  stop_listen();
  heartbeat_start(p->runtime.timeout, stop_what_stands);
  const int lock = claim_folder(&r);
  engine_start(p, &r.trace);
  message_start(p);
  create_solver(&r);
  check_times(&r);
  int code = 0;
  if (nothing_left(&r))
    say_nothing_left(&r);
  else
    code = run_to_end(&r);
  stop_enter(STOP_SAVING, 0.0);
  r.solver->end(r.state);
  message_stop();
  engine_stop();
  trace_close(&r.trace);
  report_close(r.stopped);
  folder_unlock(lock);
  return code;
}
