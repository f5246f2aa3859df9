/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages and the timing log. Every process takes part, the first one prints and writes. */
#include "photons/app/report.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "build_config.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/trace.h"

double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident_peak_bytes(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0.0;
  return 1024.0 * (double)usage.ru_maxrss;
}

struct work_counts simulation_work(const struct simulation *s) {
  struct work_counts w = {0};
  for (uint32_t g = group_first(s, comm_rank()); g < group_first(s, comm_rank() + 1); g++) {
    w.pairs += s->groups[g].pairs;
    w.interactions += s->groups[g].walked.interactions;
    w.visits += s->groups[g].walked.visits;
  }
  uint64_t sums[] = {w.pairs, w.interactions, w.visits};
  comm_sum_u64(sums, 3);
  return (struct work_counts){.pairs = sums[0], .interactions = sums[1], .visits = sums[2]};
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

static void print_layout(FILE *out, const struct parameters *p, const struct layout *l, size_t n) {
  double total = l->bytes_particles + l->bytes_tree + l->bytes_mesh;
  fprintf(out, "  groups      %u of %zu particles, leaves of at most %u (tree depth %u)\n", l->group_count,
          (n + l->group_count - 1) / l->group_count, l->leaf_size, l->depth);
  fprintf(out, "  mesh        %u^3%s, r_split %.3g, r_cut %.3g cells\n", l->pm_grid,
          p->gravity.interlace ? " interlaced" : "", p->gravity.r_split, p->gravity.r_cut);
  fprintf(out, "  memory      about %.1f MB: particles %.1f, trees %.1f, mesh %.1f (lists and buffers come on top)\n",
          1e-6 * total, 1e-6 * l->bytes_particles, 1e-6 * l->bytes_tree, 1e-6 * l->bytes_mesh);
}

static void print_physics(FILE *out, const struct parameters *p, size_t n, double mass) {
  fprintf(out, "  particles   %zu (%.4g^3) of %.4g Msun/h in %g Mpc/h\n", n, cbrt((double)n), 1e10 * mass, p->box.size);
  fprintf(out, "  cosmology   Omega_m %g, Omega_lambda %g, h %g, w0 %g, wa %g, Omega_r %g\n", p->cosmology.omega_m,
          p->cosmology.omega_lambda, p->cosmology.h, p->cosmology.w0, p->cosmology.wa, p->cosmology.omega_r);
  fprintf(out, "  softening   %g kpc/h comoving (%s)\n", p->gravity.softening,
          p->gravity.softening_kernel == SOFTENING_SPLINE ? "spline, Plummer-equivalent" : "Plummer");
}

static const char *scheduler_name(void) {
  const struct starpu_sched_policy *policy = starpu_sched_ctx_get_sched_policy(0);
  return policy && policy->policy_name ? policy->policy_name : "unknown";
}

static void print_banner(const struct simulation *s, double a, double a_end) {
  const struct parameters *p = s->parameters;
  struct layout l = layout_choose(p, s->particles.all);
  printf("photons-starpu %s\n", PACKAGE_VERSION);
  print_physics(stdout, p, s->particles.all, s->particles.mass);
  print_layout(stdout, p, &l, s->particles.all);
  printf("  workers     %u CPU cores (%s kernels), GPUs: ", starpu_cpu_worker_get_count(), s->kernels->name);
  scheduler_print_gpus(stdout);
  printf(", scheduler %s%s\n", scheduler_name(), comm_size() > 1 ? ", in each process" : "");
  if (comm_size() > 1) printf("  processes   %d\n", comm_size());
  printf("  from z = %g to z = %g, results in %s\n", 1.0 / a - 1.0, 1.0 / a_end - 1.0, p->output.dir);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (!getenv("STARPU_NCPU") && p->runtime.workers == 0 && starpu_cpu_worker_get_count() == STARPU_MAXCPUS &&
      cores > STARPU_MAXCPUS)
    warn("this machine has %ld cores but StarPU uses %u (its build's limit STARPU_MAXCPUS is %d): a StarPU built with "
         "--enable-maxcpus=%ld "
         "would use all",
         cores, starpu_cpu_worker_get_count(), STARPU_MAXCPUS, cores);
  fflush(stdout);
}

static void open_csv(struct report *r, const struct parameters *p) {
  char path[PARAMETER_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/log", p->output.dir);
  output_folder(path);
  snprintf(path, sizeof path, "%s/log/timings.csv", p->output.dir);
  r->csv = fopen(path, "a"); /* a log grows line by line: it has no temporary name */
  if (!r->csv) fail(EXIT_RUN_FAILED, "cannot write %s", path);
  if (ftell(r->csv) == 0) {
    fprintf(r->csv,
            "step,a,z,dlna,wall_s,particles_per_s,p2p_pairs,m2l_interactions,walk_visits,rebuilt,sorted,idle_share,"
            "imbalance,peak_rss_bytes");
    for (int i = 0; i < STAGES; i++) fprintf(r->csv, ",%s_s", stage_name((enum stage)i));
    fprintf(r->csv, ",gpu_idle_share");
    for (int i = 0; i < STAGES; i++) fprintf(r->csv, ",gpu_%s_s", stage_name((enum stage)i));
    fprintf(r->csv, "\n");
  }
}

/** Rows of the tasks of traced steps, a file a process. */
static void open_rows(struct report *r, const struct parameters *p) {
  r->first_row = 0;
  r->last_row = -1;
  if (!*p->runtime.trace_steps || !trace_steps_parse(p->runtime.trace_steps, &r->first_row, &r->last_row)) return;
  char path[PARAMETER_PATH_MAX + 48];
  snprintf(path, sizeof path, "%s/trace", p->output.dir);
  output_folder(path);
  snprintf(path, sizeof path, "%s/trace/tasks_%d.csv", p->output.dir, comm_rank());
  r->rows = fopen(path, "w");
  if (!r->rows) fail(EXIT_RUN_FAILED, "cannot write %s", path);
  fprintf(r->rows, "%s\n", task_log_header);
}

void report_begin(struct report *r, struct simulation *s, const struct run_options *options, double a, double a_end,
                  double wall_before) {
  *r = (struct report){.verbosity = comm_rank() == 0 ? options->verbosity : 0,
                       .terminal = comm_rank() == 0 && options->verbosity == 1 && isatty(STDOUT_FILENO),
                       .begin = log(a),
                       .end = log(a_end),
                       .wall = wall_before};
  if (comm_rank() == 0) open_csv(r, s->parameters);
  open_rows(r, s->parameters);
  if (r->verbosity > 0) print_banner(s, a, a_end);
  task_log_begin(s);
}

/** Of all processes. */
static void sum_usage(struct usage *u) {
  double sums[STAGES + 2] = {(double)u->units, u->busy};
  for (int i = 0; i < STAGES; i++) sums[2 + i] = u->seconds[i];
  comm_sum_double(sums, STAGES + 2);
  comm_max_double(&u->busiest, 1);
  u->units = (uint32_t)lround(sums[0]);
  u->busy = sums[1];
  for (int i = 0; i < STAGES; i++) u->seconds[i] = sums[2 + i];
}

static double idle_share(const struct usage *u, double wall) {
  return u->units ? fmax(1.0 - u->busy / (u->units * wall), 0.0) : NAN;
}

/** How much longer the busiest of the devices that do most worked than their mean. */
static double imbalance(const struct usage *u) { return u->busy > 0.0 ? u->busiest * u->units / u->busy - 1.0 : 0.0; }

/** "p2p 61% m2l 3% pm 30% other 6%" of a kind of device's busy time. */
static void print_shares(const struct usage *u) {
  double pm = 0.0, to_percent = u->busy > 0.0 ? 100.0 / u->busy : 0.0;
  for (int i = STAGE_PM_ASSIGN; i <= STAGE_PM_READ; i++) pm += u->seconds[i];
  const double p2p = u->seconds[STAGE_P2P], m2l = u->seconds[STAGE_M2L] + u->seconds[STAGE_L2L] + u->seconds[STAGE_L2P];
  printf("p2p %.0f%% m2l %.0f%% pm %.0f%% other %.0f%%", to_percent * p2p, to_percent * m2l, to_percent * pm,
         to_percent * fmax(u->busy - p2p - m2l - pm, 0.0));
}

static void print_step(const struct report *r, const struct simulation *s, const struct step_record *record,
                       const struct work_counts *work, const struct usage *cores, const struct usage *gpus,
                       const char *eta) {
  if (r->terminal) {
    enum { WIDTH = 30 };
    double done = (log(record->a) - r->begin) / fmax(r->end - r->begin, 1e-300);
    int filled = (int)(WIDTH * fmin(fmax(done, 0.0), 1.0));
    printf("\r[%.*s%.*s] step %lld  z = %.3f  %.2f s/step  ETA %s   ", filled, "##############################",
           WIDTH - filled, "..............................", (long long)record->step, 1.0 / record->a - 1.0,
           record->wall, eta);
  } else {
    printf("step %lld  a %.5f  z %.4f  dlna %.4f  %.3f s  %.3g particles/s  %.3g pairs  ", (long long)record->step,
           record->a, 1.0 / record->a - 1.0, record->dlna, record->wall, (double)s->particles.all / record->wall,
           (double)work->pairs);
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
  for (int i = 0; i < STAGES; i++) total->seconds[i] += u->seconds[i];
  total->busy += u->busy;
  total->units = u->units;
  *available += u->units * wall;
}

static void write_step(const struct report *r, const struct simulation *s, const struct step_record *record,
                       const struct work_counts *work, const struct usage *cores, const struct usage *gpus) {
  fprintf(r->csv, "%lld,%.9g,%.9g,%.9g,%.6g,%.6g,%llu,%llu,%llu,%d,%d,%.4g,%.4g,%.0f", (long long)record->step,
          record->a, 1.0 / record->a - 1.0, record->dlna, record->wall, (double)s->particles.all / record->wall,
          (unsigned long long)work->pairs, (unsigned long long)work->interactions, (unsigned long long)work->visits,
          record->rebuilt, record->sorted, idle_share(cores, record->wall), imbalance(gpus->units ? gpus : cores),
          r->peak_bytes);
  for (int i = 0; i < STAGES; i++) fprintf(r->csv, ",%.6g", cores->seconds[i]);
  fprintf(r->csv, ",%.4g", idle_share(gpus, record->wall));
  for (int i = 0; i < STAGES; i++) fprintf(r->csv, ",%.6g", gpus->seconds[i]);
  fprintf(r->csv, "\n");
  if (fflush(r->csv) != 0) fail(EXIT_RUN_FAILED, "cannot write log/timings.csv: is the disk full?");
}

void report_step(struct report *r, struct simulation *s, const struct step_record *record) {
  struct usage cores, gpus;
  const bool rows = r->rows && record->step >= r->first_row && record->step <= r->last_row;
  task_log_take(s, record->step, &cores, &gpus, rows ? r->rows : NULL);
  sum_usage(&cores);
  sum_usage(&gpus);
  const struct work_counts work = simulation_work(s);
  r->peak_bytes = resident_peak_bytes();
  comm_sum_double(&r->peak_bytes, 1);
  add_usage(&r->cores, &cores, &r->core_seconds, record->wall);
  add_usage(&r->gpus, &gpus, &r->gpu_seconds, record->wall);
  r->wall += record->wall;
  r->particle_steps += s->particles.all;
  if (comm_rank() == 0) write_step(r, s, record, &work, &cores, &gpus);
  if (r->verbosity == 0) return;
  char eta[32] = "-";
  if (record->dlna > 0.0) {
    double rate = record->wall / record->dlna; /* steps shrink and grow: follow the last few */
    r->rate = r->rate > 0.0 ? 0.8 * r->rate + 0.2 * rate : rate;
    format_time(eta, sizeof eta, r->rate * fmax(r->end - log(record->a), 0.0));
  }
  print_step(r, s, record, &work, &cores, &gpus, eta);
}

void report_pause(const struct report *r) {
  if (r->terminal) printf("\n");
}

/** Where the busy time of a kind of device went. */
static void print_stages(const struct usage *u, const char *kind) {
  printf("where it went (share of %u %s' busy time):", u->units, kind);
  for (int i = 0; i < STAGES; i++)
    if (u->seconds[i] > 0.005 * u->busy)
      printf("  %s %.0f%%", stage_name((enum stage)i), 100.0 * u->seconds[i] / u->busy);
  printf("\n");
}

void report_end(struct report *r, struct simulation *s, const char *dir) {
  task_log_end(s);
  if (r->csv && fclose(r->csv) != 0) fail(EXIT_RUN_FAILED, "cannot write log/timings.csv: is the disk full?");
  if (r->rows && fclose(r->rows) != 0)
    fail(EXIT_RUN_FAILED, "cannot write trace/tasks_%d.csv: is the disk full?", comm_rank());
  if (r->verbosity == 0) return;
  report_pause(r);
  char wall[32];
  format_time(wall, sizeof wall, r->wall);
  const bool gpus = r->gpus.units > 0;
  const double steps = (double)r->particle_steps;
  printf("done in %s: %.4g particle-steps, %.3g per second and %s, workers idle %.1f%% of the steps' time\n", wall,
         steps, steps / fmax(gpus ? r->gpu_seconds : r->core_seconds, 1e-9), gpus ? "GPU" : "core",
         100.0 * fmax(1.0 - r->cores.busy / fmax(r->core_seconds, 1e-9), 0.0));
  if (gpus) {
    printf("GPUs idle %.1f%% of the steps' time; ", 100.0 * fmax(1.0 - r->gpus.busy / fmax(r->gpu_seconds, 1e-9), 0.0));
    print_stages(&r->gpus, "GPUs");
  }
  print_stages(&r->cores, "cores");
  printf("peak memory %.1f MB (%.0f bytes a particle), %u cores\n", 1e-6 * r->peak_bytes,
         r->peak_bytes / (double)s->particles.all, r->cores.units);
  printf("results in %s: snapshots snap_*.hdf5 and halos fof_tab_*.hdf5 (Gadget HDF5), powerspec_*.txt, "
         "massfunc_*.txt, pictures *.png, "
         "log/timings.csv; one page of all that: tools/report.py %s\n",
         dir, dir);
}

void report_dry_run(const struct parameters *p, size_t particles, double mass) {
  struct layout l = layout_choose(p, particles);
  parameters_print(p, stdout);
  printf("\n# what a run would use\n");
  print_physics(stdout, p, particles, mass);
  print_layout(stdout, p, &l, particles);
}
