/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages and the timing log. Every process takes part, the first one prints and writes. */
#include "photons/app/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "build_config.h"
#include "photons/app/results.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/trace.h"

static double resident_peak_bytes(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0.0;
  return 1024.0 * (double)usage.ru_maxrss;
}

/** Time as 12.3 s, 4:05 or 1:02:03. */
static void format_time(char *out, size_t size, double seconds) {
  long t = lround(seconds);
  if (seconds < 60.0)
    snprintf(out, size, "%.1f s", seconds);
  else if (t < 3600)
    snprintf(out, size, "%ld:%02ld", t / 60, t % 60);
  else
    snprintf(out, size, "%ld:%02ld:%02ld", t / 3600, t / 60 % 60, t % 60);
}

static const char *scheduler_name(void) {
  const struct starpu_sched_policy *policy = starpu_sched_ctx_get_sched_policy(0);
  return policy && policy->policy_name ? policy->policy_name : "unknown";
}

static void print_banner(const struct parameters *p, void (*print)(void *, FILE *), void *context,
                         double a, double a_end) {
  printf("photons-starpu %s\n", PACKAGE_VERSION);
  print(context, stdout);
  const unsigned cores_used = starpu_cpu_worker_get_count();
  printf("  workers     %u CPU cores (%s kernels), GPUs: ", cores_used, isa_name(isa_select()));
  scheduler_print_gpus(stdout);
  printf(", scheduler %s%s\n", scheduler_name(), comm_size() > 1 ? ", in each process" : "");
  if (comm_size() > 1) printf("  processes   %d\n", comm_size());
  printf("  from z = %g to z = %g, results in %s\n", 1.0 / a - 1.0, 1.0 / a_end - 1.0,
         p->output.dir);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (!getenv("STARPU_NCPU") && p->runtime.workers == 0 && cores_used == STARPU_MAXCPUS &&
      cores > STARPU_MAXCPUS)
    warn(
        "this machine has %ld cores but StarPU uses %u (its build's limit STARPU_MAXCPUS is %d): a "
        "StarPU built with --enable-maxcpus=%ld would use all",
        cores, cores_used, STARPU_MAXCPUS, cores);
  fflush(stdout);
}

/** The log of a run that goes on ends with the step of its checkpoint: steps after that are taken
 * again. */
static void cut_csv(const char *path, int64_t last_step) {
  FILE *file = fopen(path, "r+");
  if (!file) return;
  char *line = NULL;
  size_t size = 0;
  long end = 0;
  for (ssize_t n; (n = getline(&line, &size, file)) > 0; end += n)
    if (line[n - 1] != '\n' || strtoll(line, NULL, 10) > last_step) break; /* 0: the header */
  free(line);
  if (ftruncate(fileno(file), end) != 0 || fclose(file) != 0)
    fail(EXIT_RUN_FAILED, "cannot write %s: %s", path, strerror(errno));
}

static void open_csv(struct report *r, const struct parameters *p, int64_t steps) {
  char path[PARAMETER_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/log", p->output.dir);
  output_folder(path);
  snprintf(path, sizeof path, "%s/log/timings.csv", p->output.dir);
  cut_csv(path, steps);
  r->csv = fopen(path, "a"); /* a log grows line by line: it has no temporary name */
  if (!r->csv) fail(EXIT_RUN_FAILED, "cannot write %s", path);
  if (ftell(r->csv) == 0) {
    fprintf(r->csv, "step,a,z,dlna,wall_s,particles_per_s,p2p_pairs,m2l_interactions,walk_visits,"
                    "rebuilt,sorted,idle_share,"
                    "imbalance,peak_rss_bytes,sub_steps,rung_particles,rung_kicked,rung_pairs");
    for (uint32_t i = 0; i < stage_count(); i++) fprintf(r->csv, ",%s_s", stage_name(stage_at(i)));
    fprintf(r->csv, ",gpu_idle_share");
    for (uint32_t i = 0; i < stage_count(); i++)
      fprintf(r->csv, ",gpu_%s_s", stage_name(stage_at(i)));
    fprintf(r->csv, "\n");
  }
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
  snprintf(path, sizeof path, "%s/trace/tasks_%d.csv", p->output.dir, comm_rank());
  r->rows = fopen(path, "w");
  if (!r->rows) fail(EXIT_RUN_FAILED, "cannot write %s", path);
  fprintf(r->rows, "%s\n", task_log_header);
}

void report_begin(struct report *r, const struct parameters *p, const struct run_options *options,
                  void (*print)(void *, FILE *), void *context, double a, double a_end,
                  int64_t steps, double wall_before) {
  *r = (struct report){.verbosity = comm_rank() == 0 ? options->verbosity : 0,
                       .terminal = comm_rank() == 0 && options->verbosity == 1 &&
                                   isatty(STDOUT_FILENO),
                       .begin = log(a),
                       .end = log(a_end),
                       .wall = wall_before};
  if (comm_rank() == 0) open_csv(r, p, steps);
  open_rows(r, p);
  if (r->verbosity > 0) print_banner(p, print, context, a, a_end);
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

static double idle_share(const struct usage *u, double wall) {
  return u->units ? fmax(1.0 - u->busy / (u->units * wall), 0.0) : NAN;
}

/** How much longer the busiest of the devices that do most worked than their mean. */
static double imbalance(const struct usage *u) {
  return u->busy > 0.0 ? u->busiest * u->units / u->busy - 1.0 : 0.0;
}

/** "p2p 61% m2l 3% pm 30% other 6%": shares of a kind of device's busy time by families of stages, in
 * the order of their first stages. */
static void print_shares(const struct usage *u) {
  const double to_percent = u->busy > 0.0 ? 100.0 / u->busy : 0.0;
  double other = u->busy;
  for (uint32_t i = 0; i < stage_count(); i++) {
    const char *family = stage_at(i)->family;
    bool first = family != NULL;
    double sum = 0.0;
    for (uint32_t k = 0; k < stage_count() && first; k++) {
      if (!stage_at(k)->family || strcmp(stage_at(k)->family, family) != 0) continue;
      if (k < i) first = false;
      sum += u->seconds[k];
    }
    if (!first) continue;
    printf("%s %.0f%% ", family, to_percent * sum);
    other -= sum;
  }
  printf("other %.0f%%", to_percent * fmax(other, 0.0));
}

/** Deepest rung with a number; 0 if there is none. */
static int deepest_rung(const uint64_t by_rung[RUNGS]) {
  int deepest = RUNG_MOST;
  while (deepest > 0 && by_rung[deepest] == 0) deepest--;
  return deepest;
}

static void print_step(const struct report *r, const struct step_record *record,
                       const struct usage *cores, const struct usage *gpus, const char *eta) {
  if (r->terminal) {
    enum { WIDTH = 30 };
    double done = (log(record->a) - r->begin) / fmax(r->end - r->begin, 1e-300);
    int filled = (int)(WIDTH * fmin(fmax(done, 0.0), 1.0));
    printf("\r[%.*s%.*s] step %lld  z = %.3f  %.2f s/step  ETA %s   ", filled,
           "##############################", WIDTH - filled, "..............................",
           (long long)record->step, 1.0 / record->a - 1.0, record->wall, eta);
  } else {
    printf("step %lld  a %.5f  z %.4f  dlna %.4f  %.3f s  %.3g particles/s  %.3g pairs  ",
           (long long)record->step, record->a, 1.0 / record->a - 1.0, record->dlna, record->wall,
           (double)record->kicked / record->wall, (double)record->work.pairs);
    if (record->block.sub_steps > 0)
      printf("%u sub-steps, rungs 0-%d  ", record->block.sub_steps, deepest_rung(record->rungs));
    print_shares(gpus->units ? gpus : cores);
    if (gpus->units)
      printf("  GPU idle %.1f%%, cores %.1f%%", 100.0 * idle_share(gpus, record->wall),
             100.0 * idle_share(cores, record->wall));
    printf("  imbalance %.1f%%%s  ETA %s\n", 100.0 * imbalance(gpus->units ? gpus : cores),
           record->rebuilt  ? "  rebuilt"
           : record->sorted ? "  sorted"
                            : "",
           eta);
  }
  fflush(stdout);
}

static void add_usage(struct usage *total, const struct usage *u, double *available, double wall) {
  for (int i = 0; i < STAGES_MOST; i++) total->seconds[i] += u->seconds[i];
  total->busy += u->busy;
  total->units = u->units;
  *available += u->units * wall;
}

/** A column of numbers by rung, from rung 0 on: "12;34;5". */
static void write_by_rung(FILE *out, const uint64_t by_rung[RUNGS]) {
  fprintf(out, ",%llu", (unsigned long long)by_rung[0]);
  for (int k = 1; k <= deepest_rung(by_rung); k++)
    fprintf(out, ";%llu", (unsigned long long)by_rung[k]);
}

static void write_step(const struct report *r, const struct step_record *record,
                       const struct usage *cores, const struct usage *gpus) {
  fprintf(r->csv, "%lld,%.9g,%.9g,%.9g,%.6g,%.6g,%llu,%llu,%llu,%d,%d,%.4g,%.4g,%.0f",
          (long long)record->step, record->a, 1.0 / record->a - 1.0, record->dlna, record->wall,
          (double)record->kicked / record->wall, (unsigned long long)record->work.pairs,
          (unsigned long long)record->work.interactions, (unsigned long long)record->work.visits,
          record->rebuilt, record->sorted, idle_share(cores, record->wall),
          imbalance(gpus->units ? gpus : cores), r->peak_bytes);
  fprintf(r->csv, ",%u", record->block.sub_steps);
  write_by_rung(r->csv, record->rungs);
  write_by_rung(r->csv, record->block.particles);
  write_by_rung(r->csv, record->block.pairs);
  for (uint32_t i = 0; i < stage_count(); i++) fprintf(r->csv, ",%.6g", cores->seconds[i]);
  fprintf(r->csv, ",%.4g", idle_share(gpus, record->wall));
  for (uint32_t i = 0; i < stage_count(); i++) fprintf(r->csv, ",%.6g", gpus->seconds[i]);
  fprintf(r->csv, "\n");
  if (fflush(r->csv) != 0) fail(EXIT_RUN_FAILED, "cannot write log/timings.csv: is the disk full?");
}

void report_step(struct report *r, const struct step_record *record) {
  struct usage cores, gpus;
  const bool rows = r->rows && record->step >= r->first_row && record->step <= r->last_row;
  task_log_take(record->step, &cores, &gpus, rows ? r->rows : NULL, record->owner_seconds);
  sum_usage(&cores);
  sum_usage(&gpus);
  r->peak_bytes = resident_peak_bytes();
  comm_sum_double(&r->peak_bytes, 1);
  add_usage(&r->cores, &cores, &r->core_seconds, record->wall);
  add_usage(&r->gpus, &gpus, &r->gpu_seconds, record->wall);
  r->wall += record->wall;
  r->particle_steps += record->kicked;
  r->particles = record->particles;
  if (comm_rank() == 0) write_step(r, record, &cores, &gpus);
  if (r->verbosity == 0) return;
  char eta[32] = "-";
  if (record->dlna > 0.0) {
    double rate = record->wall / record->dlna; /* steps shrink and grow: follow the last few */
    r->rate = r->rate > 0.0 ? 0.8 * r->rate + 0.2 * rate : rate;
    format_time(eta, sizeof eta, r->rate * fmax(r->end - log(record->a), 0.0));
  }
  print_step(r, record, &cores, &gpus, eta);
}

void report_pause(const struct report *r) {
  if (r->terminal) printf("\n");
}

/** Where the busy time of a kind of device went. */
static void print_stages(const struct usage *u, const char *kind) {
  printf("where it went (share of %u %s' busy time):", u->units, kind);
  for (uint32_t i = 0; i < stage_count(); i++)
    if (u->seconds[i] > 0.005 * u->busy)
      printf("  %s %.0f%%", stage_name(stage_at(i)), 100.0 * u->seconds[i] / u->busy);
  printf("\n");
}

void report_end(struct report *r, const char *dir, bool stopped) {
  task_log_end();
  if (r->csv && fclose(r->csv) != 0)
    fail(EXIT_RUN_FAILED, "cannot write log/timings.csv: is the disk full?");
  if (r->rows && fclose(r->rows) != 0)
    fail(EXIT_RUN_FAILED, "cannot write trace/tasks_%d.csv: is the disk full?", comm_rank());
  if (r->verbosity == 0) return;
  report_pause(r);
  char wall[32];
  format_time(wall, sizeof wall, r->wall);
  const bool gpus = r->gpus.units > 0;
  const double steps = (double)r->particle_steps;
  printf("%s %s: %.4g particle-steps, %.3g per second and %s, workers idle %.1f%% of the steps' "
         "time\n",
         stopped ? "stopped after" : "done in", wall, steps,
         steps / fmax(gpus ? r->gpu_seconds : r->core_seconds, 1e-9), gpus ? "GPU" : "core",
         100.0 * fmax(1.0 - r->cores.busy / fmax(r->core_seconds, 1e-9), 0.0));
  if (gpus) {
    printf("GPUs idle %.1f%% of the steps' time; ",
           100.0 * fmax(1.0 - r->gpus.busy / fmax(r->gpu_seconds, 1e-9), 0.0));
    print_stages(&r->gpus, "GPUs");
  }
  print_stages(&r->cores, "cores");
  printf("peak memory %.1f MB (%.0f bytes a particle), %u cores\n", 1e-6 * r->peak_bytes,
         r->peak_bytes / fmax((double)r->particles, 1.0), r->cores.units);
  results_print(stdout, dir);
}
