/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of a run. Every process takes part, the first one prints and writes. */
#include "photons/app/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "build_config.h"
#include "photons/app/results.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/runtime/message.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/task_graph.h"
#include "photons/runtime/trace.h"

static double resident_peak_bytes(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0.0;
  return 1024.0 * (double)usage.ru_maxrss;
}

/** Over all ranks. */
static void measure_peak(struct report *r) {
  r->peak_bytes = resident_peak_bytes();
  comm_sum_double(&r->peak_bytes, 1);
}

static const char *scheduler_name(void) {
  const struct starpu_sched_policy *policy = starpu_sched_ctx_get_sched_policy(0);
  return policy && policy->policy_name ? policy->policy_name : "unknown";
}

static FILE *open_text(char **text, size_t *size) {
  FILE *out = open_memstream(text, size);
  if (!out) fail(EXIT_RUN_FAILED, "not enough memory for the report");
  return out;
}

/** Say the text of a stream that open_text() opened. */
static void say_text(FILE *out, char **text) {
  if (fclose(out) != 0) fail(EXIT_RUN_FAILED, "not enough memory for the report");
  say("%s", *text);
  free(*text);
}

static void warn_unused_cores(const struct parameters *p, unsigned used) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (!getenv("STARPU_NCPU") && p->runtime.workers == 0 && used == STARPU_MAXCPUS &&
      cores > STARPU_MAXCPUS)
    warn(
        "this machine has %ld cores but StarPU uses %u (its build's limit STARPU_MAXCPUS is %d): a "
        "StarPU built with --enable-maxcpus=%ld would use all",
        cores, used, STARPU_MAXCPUS, cores);
}

static void say_banner(const struct parameters *p, const struct solver *solver, void *state,
                       const struct timeline *t, double a) {
  char *text;
  size_t size;
  FILE *out = open_text(&text, &size);
  fprintf(out, "photons-starpu %s\n", PACKAGE_VERSION);
  solver->describe(state, out);
  const unsigned cores = starpu_cpu_worker_get_count();
  fprintf(out, "  workers     %u CPU core%s (%s kernels), GPUs: ", cores, cores == 1 ? "" : "s",
          isa_name(isa_select()));
  scheduler_print_gpus(out);
  fprintf(out, ", scheduler %s%s\n", scheduler_name(), comm_size() > 1 ? ", in each process" : "");
  if (comm_size() > 1)
    fprintf(out, "  processes   %d, on one host by %s\n", comm_size(), message_way());
  fprintf(out, "  from %s to %s, results in %s\n", solver->moment(p, a).text,
          solver->moment(p, t->end).text, p->output.dir);
  say_text(out, &text);
  if (comm_rank() == 0) warn_unused_cores(p, cores);
}

/** The first line of each session in log/run.log. */
static void log_begin(const char *folder, const struct report_start *start, const char *moment) {
  char path[PARAMETER_PATH_MAX + 64], date[CLOCK_DATE_SIZE], heading[CLOCK_DATE_SIZE + 96];
  snprintf(path, sizeof path, "%s/run.log", folder);
  clock_date(date);
  snprintf(heading, sizeof heading, "%s the run begins\n", date);
  if (start->restarted)
    snprintf(heading, sizeof heading, "\n%s the run goes on after step %lld at %s\n", date,
             (long long)start->step, moment);
  console_log_open(path, heading);
}

static void open_logs(struct report *r, const struct parameters *p, const char *moment,
                      const struct report_start *start) {
  if (comm_rank() != 0) return;
  char folder[PARAMETER_PATH_MAX + 32];
  snprintf(folder, sizeof folder, "%s/log", p->output.dir);
  output_folder(folder);
  log_begin(folder, start, moment);
  r->files = step_files_open(folder, start->step, p, r->log);
}

/** trace/stages.csv: names, families and colours of the stages, for pictures of the tasks. */
static void write_stages(const struct parameters *p) {
  char path[PARAMETER_PATH_MAX + 48];
  snprintf(path, sizeof path, "%s/trace/stages.csv", p->output.dir);
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  task_log_write_stages(file);
  output_close(file, path);
  output_commit(temporary, path);
}

/** A table of this rank in trace/. */
static FILE *open_table(const struct parameters *p, const char *name, const char *header) {
  char path[PARAMETER_PATH_MAX + 48];
  snprintf(path, sizeof path, "%s/trace/%s_%d.csv", p->output.dir, name, comm_rank());
  FILE *file = fopen(path, "w");
  if (!file) fail(EXIT_RUN_FAILED, "cannot write %s", path);
  fprintf(file, "%s\n", header);
  return file;
}

static void close_table(FILE *file, const char *name) {
  const bool failed = file && ferror(file) != 0; /* earlier rows */
  if (file && (fclose(file) != 0 || failed))
    fail(EXIT_RUN_FAILED, "cannot write trace/%s_%d.csv: is the disk full?", name, comm_rank());
}

/** Record what is submitted after a step if the next one is traced. */
static void record_graph(const struct report *r, int64_t step) {
  const bool next = r->graph && step + 1 >= r->first_row && step + 1 <= r->last_row;
  task_graph_record(next ? r->graph : NULL);
}

/** Rows of the tasks of traced steps, a file a rank. */
static void open_rows(struct report *r, const struct parameters *p) {
  r->first_row = 0;
  r->last_row = -1;
  if (!*p->runtime.trace_steps ||
      !parameter_step_range(p->runtime.trace_steps, &r->first_row, &r->last_row))
    return;
  char path[PARAMETER_PATH_MAX + 48];
  snprintf(path, sizeof path, "%s/trace", p->output.dir);
  output_folder(path);
  if (comm_rank() == 0) write_stages(p);
  r->rows = open_table(p, "tasks", task_log_header);
  r->graph = open_table(p, "graph", task_graph_header);
}

/** The universe that says how much work is ahead; one that is static in runs without redshifts. */
static struct cosmology universe_of(const struct parameters *p) {
  struct cosmology universe = cosmology_from(p);
  universe.isolated = !run_has_redshifts(p);
  return universe;
}

void report_begin(struct report *r, const struct parameters *p, const struct run_options *options,
                  const struct solver *solver, void *state, const struct timeline *timeline,
                  const struct report_start *start) {
  *r = (struct report){
      .timeline = timeline,
      .log = solver->log,
      .universe = universe_of(p),
      .last_step = start->last_step,
      .lines = step_lines_make(solver->log, options->verbosity > 1, p->output.log_seconds),
      .wall = start->wall_seconds};
  open_logs(r, p, solver->moment(p, start->a).text, start);
  open_rows(r, p);
  record_graph(r, start->step - 1); /* the first forces are step 0 */
  say_banner(p, solver, state, timeline, start->a);
  rank_log_begin(&r->ranks);
  task_log_begin();
}

/** Of all processes. */
static void sum_usage(struct usage *u) {
  double sums[STAGES_MOST + 2] = {(double)u->units, u->busy};
  for (int i = 0; i < STAGES_MOST; i++) sums[2 + i] = u->seconds[i];
  comm_sum_double(sums, STAGES_MOST + 2);
  comm_max_double(&u->busiest, 1);
  u->units = (uint32_t)lround(sums[0]);
  u->busy = sums[1];
  for (int i = 0; i < STAGES_MOST; i++) u->seconds[i] = sums[2 + i];
}

static void add_usage(struct usage *total, const struct usage *u, double *available, double wall) {
  for (int i = 0; i < STAGES_MOST; i++) total->seconds[i] += u->seconds[i];
  total->busy += u->busy;
  total->units = u->units;
  *available += u->units * wall;
}

/** The share of the run's way, in ln a or in time. */
static double done(const struct report *r, double a) {
  const struct timeline *t = r->timeline;
  const double way = moment_interval(t->is_time, t->begin, t->end);
  return way > 0.0 ? moment_interval(t->is_time, t->begin, a) / way : 1.0;
}

/** Seconds to the end of the run, or to the step where it is to stop; NAN: unknown. */
static double seconds_left(const struct report *r, const struct step_record *record) {
  const struct timeline *t = r->timeline;
  const double left = eta_seconds(&r->eta, eta_work(&r->universe, record->a, t->end),
                                  t->outputs - timeline_outputs_until(t, record->a));
  if (isnan(left) || r->last_step < 0) return left;
  return fmin(left, (double)(r->last_step - record->step) * record->wall);
}

void report_step(struct report *r, const struct step_record *record) {
  struct usage cores, gpus;
  const bool rows = r->rows && record->step >= r->first_row && record->step <= r->last_row;
  task_log_take(record->step, &cores, &gpus, rows ? r->rows : NULL, &record->owners);
  record_graph(r, record->step);
  sum_usage(&cores);
  sum_usage(&gpus);
  measure_peak(r);
  rank_log_step(&r->ranks);
  add_usage(&r->cores, &cores, &r->core_seconds, record->wall);
  add_usage(&r->gpus, &gpus, &r->gpu_seconds, record->wall);
  r->wall += record->wall;
  r->particle_steps += record->kicked;
  r->particles = record->particles;
  const double begin = moment_after(r->timeline->is_time, record->a, -record->dlna);
  const bool output = timeline_outputs_until(r->timeline, record->a) >
                      timeline_outputs_until(r->timeline, begin);
  eta_step(&r->eta, eta_work(&r->universe, begin, record->a), record->wall, output);
  if (comm_rank() == 0) step_files_write(&r->files, record, &cores, &gpus, r->peak_bytes);
  const bool last = timeline_ended(r->timeline, record->a) || record->step == r->last_step;
  step_lines_tell(&r->lines, record, &cores, &gpus, done(r, record->a), seconds_left(r, record),
                  last);
}

void report_output(struct report *r, double seconds) { eta_output(&r->eta, seconds); }

/** Where the busy time of a kind of device went. */
static void print_stages(FILE *out, const struct usage *u, const char *kind) {
  fprintf(out, "where it went (share of %u %s' busy time):", u->units, kind);
  for (uint32_t i = 0; i < stage_count(); i++)
    if (u->seconds[i] > 0.005 * u->busy)
      fprintf(out, "  %s %.0f%%", stage_name(stage_at(i)), 100.0 * u->seconds[i] / u->busy);
  fprintf(out, "\n");
}

static double idle_percent(const struct usage *u, double seconds) {
  return 100.0 * fmax(1.0 - u->busy / fmax(seconds, 1e-9), 0.0);
}

static void say_summary(const struct report *r, const char *dir, bool stopped) {
  char *text, wall[CLOCK_DURATION_SIZE];
  size_t size;
  FILE *out = open_text(&text, &size);
  clock_duration(wall, r->wall);
  const bool gpus = r->gpus.units > 0;
  const double steps = (double)r->particle_steps;
  if (r->particle_steps == 0) {
    fprintf(out, "%s %s: no step was taken\n", stopped ? "stopped after" : "done in", wall);
    results_print(out, dir);
    say_text(out, &text);
    return;
  }
  fprintf(out,
          "%s %s: %.4g %s, %.3g per second and %s\n"
          "workers idle %.1f%% of the steps' time\n",
          stopped ? "stopped after" : "done in", wall, steps, r->log->work,
          steps / fmax(gpus ? r->gpu_seconds : r->core_seconds, 1e-9), gpus ? "GPU" : "core",
          idle_percent(&r->cores, r->core_seconds));
  if (gpus) {
    fprintf(out, "GPUs idle %.1f%% of the steps' time\n", idle_percent(&r->gpus, r->gpu_seconds));
    print_stages(out, &r->gpus, "GPUs");
  }
  print_stages(out, &r->cores, "cores");
  fprintf(out, "peak memory %.1f MB (%.0f bytes a %s), %u core%s\n", 1e-6 * r->peak_bytes,
          r->peak_bytes / fmax((double)r->particles, 1.0), r->log->thing, r->cores.units,
          r->cores.units == 1 ? "" : "s");
  results_print(out, dir);
  say_text(out, &text);
}

void report_end(struct report *r, const char *dir, bool stopped) {
  task_log_end();
  task_graph_record(NULL);
  close_table(r->rows, "tasks");
  close_table(r->graph, "graph");
  measure_peak(r); /* an output may have followed the last step */
  rank_log_write(&r->ranks, dir);
  if (comm_rank() != 0) return;
  step_files_close(&r->files);
  step_lines_end(&r->lines);
  say_summary(r, dir, stopped);
}

void report_close(bool stopped) {
  char date[CLOCK_DATE_SIZE];
  clock_date(date);
  say_in(CONSOLE_LOG, "%s the run %s\n", date, stopped ? "is stopped" : "ends");
  console_log_close();
}
