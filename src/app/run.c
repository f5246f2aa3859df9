/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run: initial conditions or checkpoint, steps from output to output, checkpoints, the end. */
#include "photons/app/run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/analysis/analysis.h"
#include "photons/domain/balance.h"
#include "photons/runtime/codelets.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/host_share.h"
#include "photons/ic/ic.h"
#include "photons/cosmology/linear_power.h"
#include "photons/base/output_file.h"
#include "photons/app/products.h"
#include "photons/app/report.h"
#include "photons/runtime/scheduler.h"
#include "photons/io/snapshot.h"
#include "photons/step/step.h"
#include "photons/step/timeline.h"
#include "photons/runtime/trace.h"

struct run {
  struct parameters *parameters;
  const struct run_options *options;
  struct cosmology cosmology;
  struct linear_power *linear; /* NULL where the parameters name no spectrum */
  struct timeline timeline;
  struct simulation *simulation;
  struct checkpoint_state state;
  struct report report;
  struct trace trace;
  struct products products; /* of the output at work: */
  bool begun;               /* its first part is done */
  double beside_seconds;    /* and took so long */
  double checkpoint_wall;   /* when the last checkpoint was written */
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

static struct cosmology cosmology_from(const struct parameters *p) {
  return (struct cosmology){.omega_m = p->cosmology.omega_m,
                            .omega_lambda = p->cosmology.omega_lambda,
                            .omega_k = 1.0 - p->cosmology.omega_m - p->cosmology.omega_lambda - p->cosmology.omega_r,
                            .omega_r = p->cosmology.omega_r,
                            .w0 = p->cosmology.w0,
                            .wa = p->cosmology.wa};
}

static void checkpoint_path(char *out, size_t size, const struct parameters *p) {
  snprintf(out, size, "%s/checkpoint.hdf5", p->output.dir);
}

static void start_starpu(const struct parameters *p, struct trace *trace) {
  struct starpu_conf conf;
  host_share(p); /* first: StarPU reads its settings when the structure is made */
  if (starpu_conf_init(&conf) != 0) fail(EXIT_RUN_FAILED, "StarPU does not start: starpu_conf_init failed");
  scheduler_configure(&conf, p);
  conf.catch_signals = 0;
  trace_prepare(trace, p);
  int status = starpu_init(&conf);
  if (status != 0) fail(EXIT_RUN_FAILED, "StarPU does not start: %s (STARPU_* settings?)", strerror(-status));
  if (starpu_cpu_worker_get_count() == 0) fail(EXIT_RUN_FAILED, "StarPU has no CPU worker: check STARPU_NCPU");
  if (p->runtime.gpu == GPU_REQUIRE && starpu_cuda_worker_get_count() == 0)
    fail(EXIT_BAD_USAGE, "runtime.gpu = require, but StarPU uses no GPU: is it built with CUDA?");
  scheduler_started();
  message_start(p);
}

/** Softening chosen from the mean spacing where the parameter asks for it. */
static void resolve_softening(struct parameters *p, size_t count) {
  if (p->gravity.softening < 0.0) p->gravity.softening = 1e3 * p->box.size / cbrt((double)count) / 30.0;
}

static struct particles initial_particles(struct run *r) {
  struct parameters *p = r->parameters;
  struct particles particles;
  if (r->options->restart) {
    char path[PARAMETER_PATH_MAX + 32];
    checkpoint_path(path, sizeof path, p);
    particles = checkpoint_read(path, p, &r->state);
    p->box.size = particles.box;
  } else {
    bool generate = p->ic.source == IC_GENERATE;
    if (!generate) particles = ic_read_gadget(p);
    r->cosmology = cosmology_from(p);
    if (generate) particles = ic_generate(p, &r->cosmology, r->linear);
    r->state.a = r->state.start_a = 1.0 / (1.0 + p->ic.z_init);
  }
  r->cosmology = cosmology_from(p);
  resolve_softening(p, particles.all);
  return particles;
}

/* Nanoseconds that a thing costs on one core, or on a GPU, roughly: being constants they keep results independent of timing noise and of
 * the number of workers. */
static const struct cost {
  double pair, interaction, visit, sort; /* sort: a particle */
} core_cost = {0.5, 25.0, 6.0, 100.0}, gpu_cost = {0.001, 0.01, 0.05, 2.0};

static const struct cost *cost(void) { return scheduler_any_gpu() ? &gpu_cost : &core_cost; }

/* Groups go on interpenetrating however well sorted each is. */
#define SPREAD_MOST 1.5

/** Sort when the work lost to loosened trees since the last sort, and to be lost by this step, pays for one: where the loss grows with
 * the age of the trees, this costs least. */
static bool sort_due(const struct run *r) {
  const struct checkpoint_state *state = &r->state;
  const int64_t interval = r->parameters->runtime.sort_interval;
  if (interval > 0) return state->steps_since_sort >= interval;
  const double loss = state->loosening * (double)state->steps_since_sort;
  return state->sort_debt + loss >= cost()->sort * (double)r->simulation->particles.all;
}

/** Rebuild, instead of a sort, when the groups have spread too far. */
static bool rebuild_due(const struct run *r) {
  const int64_t interval = r->parameters->runtime.rebuild_interval;
  if (interval > 0) return r->state.steps_since_rebuild >= interval;
  return sort_due(r) && r->state.spread >= SPREAD_MOST * r->state.fresh_spread;
}

/** Volume that the groups reach, added up. */
static double spread(const struct simulation *s) {
  double sum = 0.0;
  for (uint32_t g = 0; g < s->group_count; g++) {
    double volume = 1.0;
    for (int c = 0; c < 3; c++) volume *= 1.0 + (double)s->groups[g].root.half[c];
    sum += volume;
  }
  return sum;
}

static void account_work(struct run *r) {
  struct checkpoint_state *state = &r->state;
  const struct work_counts w = simulation_work(r->simulation);
  const double work = cost()->pair * (double)w.pairs + cost()->interaction * (double)w.interactions +
                      cost()->visit * (double)w.visits;
  if (state->steps_since_sort == 0) {
    state->fresh_work = work;
    state->sort_debt = 0.0;
    state->loosening *= 0.97; /* where every step sorts, one will try again how it goes without */
  } else {
    const double loss = fmax(work - state->fresh_work, 0.0);
    state->sort_debt += loss;
    state->loosening = loss / (double)state->steps_since_sort;
  }
  state->spread = spread(r->simulation);
  if (state->steps_since_rebuild == 0) state->fresh_spread = state->spread;
  state->steps_since_sort++;
  state->steps_since_rebuild++;
}

/** What the next output consists of. */
static struct products next_products(const struct run *r) {
  const struct simulation *s = r->simulation;
  return (struct products){.parameters = r->parameters,
                           .cosmology = &r->cosmology,
                           .linear = r->linear,
                           .particles = &s->particles,
                           .depth = s->depth,
                           .a = r->state.a,
                           .number = (size_t)r->state.outputs_done,
                           .mesh = s->mesh->cells,
                           .snapshot = true,
                           .quiet = r->options->verbosity == 0};
}

/** The first part of an output, which needs only positions, beside the tasks that compute forces. */
static void write_positions(void *context) {
  struct run *r = context;
  const double start = wall_clock();
  report_pause(&r->report);
  r->products = next_products(r);
  simulation_acquire_positions(r->simulation);
  products_write_positions(&r->products);
  simulation_release_positions(r->simulation);
  r->beside_seconds = wall_clock() - start;
  r->begun = true;
}

static void write_output(struct run *r) {
  struct simulation *s = r->simulation;
  const double start = wall_clock(), beside = r->begun ? r->beside_seconds : 0.0;
  report_pause(&r->report);
  simulation_acquire(s);
  if (!r->begun) {
    r->products = next_products(r);
    products_write_positions(&r->products);
  }
  products_write_rest(&r->products);
  simulation_release(s);
  r->begun = false;
  const double spent = wall_clock() - start;
  r->report.output_seconds += spent;
  if (r->options->verbosity > 0 && comm_rank() == 0)
    printf("output %lld at z = %.4g written in %.2f s%s\n", (long long)r->state.outputs_done, 1.0 / r->state.a - 1.0,
           spent + beside, beside > 0.0 ? ", part of it beside the step's forces" : "");
}

static size_t outputs_due(const struct run *r) { return timeline_outputs_until(&r->timeline, r->state.a); }

static void write_due_outputs(struct run *r) {
  for (; (size_t)r->state.outputs_done < outputs_due(r); r->state.outputs_done++) write_output(r);
}

static void write_checkpoint(struct run *r) {
  char path[PARAMETER_PATH_MAX + 32];
  checkpoint_path(path, sizeof path, r->parameters);
  r->state.wall_seconds = r->report.wall;
  simulation_acquire(r->simulation);
  checkpoint_write(path, r->parameters, &r->simulation->particles, &r->state);
  simulation_release(r->simulation);
  r->checkpoint_wall = wall_clock();
  report_pause(&r->report);
  if (r->options->verbosity > 0 && comm_rank() == 0)
    printf("checkpoint at z = %.4g written to %s\n", 1.0 / r->state.a - 1.0, path);
}

/** Follow an upper limit of the softening in physical units. */
static void apply_softening(struct run *r) {
  if (r->parameters->gravity.softening_max_physical > 0.0)
    simulation_set_softening(r->simulation, softening_at(r->parameters, r->state.a));
}

/** Let groups change owners where it pays. */
static void balance(struct run *r) {
  struct simulation *s = r->simulation;
  if (comm_size() == 1 || r->state.step % BALANCE_STEPS != BALANCE_STEPS - 1) return;
  uint32_t *first = allocate((size_t)comm_size() + 1, sizeof *first, "owners of groups");
  if (balance_wanted(s, first)) simulation_migrate(s, first);
  free(first);
}

static void take_step(struct run *r) {
  struct simulation *s = r->simulation;
  const struct cosmology *c = &r->cosmology;
  double start = wall_clock(), a0 = r->state.a;
  double a1 = timeline_next(&r->timeline, r->parameters, c, a0, step_acc_max(s), softening_at(r->parameters, a0));
  double middle = sqrt(a0 * a1);
  balance(r);
  const bool rebuilt = rebuild_due(r), sorted = !rebuilt && sort_due(r);
  trace_begin_step(&r->trace, r->state.step + 1);
  step_drift(s, cosmology_kick(c, a0, middle), cosmology_drift(c, a0, a1));
  r->state.a = a1;
  if (rebuilt) step_rebuild(s);
  if (sorted) step_sort(s);
  if (rebuilt) r->state.steps_since_rebuild = 0;
  if (rebuilt || sorted) r->state.steps_since_sort = 0;
  apply_softening(r);
  const bool due = (size_t)r->state.outputs_done < outputs_due(r);
  step_forces(s, cosmology_kick(c, middle, a1), due ? write_positions : NULL, r);
  trace_end_step(&r->trace);
  account_work(r);
  r->state.step++;
  struct step_record record = {r->state.step, a1, log(a1 / a0), wall_clock() - start, rebuilt, sorted};
  report_step(&r->report, s, &record);
}

/** First forces. A checkpoint holds the accelerations and the order of the particles: both are kept, so that the run goes on
 * as if it had not stopped. */
static void first_forces(struct run *r) {
  struct simulation *s = r->simulation;
  double start = wall_clock();
  if (r->options->restart) {
    step_measure(s);
    return;
  }
  apply_softening(r);
  trace_begin_step(&r->trace, r->state.step);
  step_first_forces(s);
  trace_end_step(&r->trace);
  account_work(r);
  struct step_record record = {r->state.step, r->state.a, 0.0, wall_clock() - start, true, false};
  report_step(&r->report, s, &record);
}

static bool finished(const struct run *r) {
  int64_t limit = r->options->steps;
  return r->state.a >= r->timeline.end * (1.0 - 1e-12) || (limit >= 0 && r->state.step >= limit);
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
    fprintf(stderr, "photons-starpu: stopped by signal %d after step %lld; go on with --restart\n", signal_number,
            (long long)r->state.step);
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

/** Where memory is promised freely the kernel kills who uses it: refuse what this machine cannot hold. */
static void require_memory(const struct parameters *p, size_t particles) {
  const struct layout l = layout_choose(p, particles);
  const double power = power_memory(p, particles, l.pm_grid) * (double)comm_size(); /* beside all else */
  const double needed = l.bytes_particles + l.bytes_tree + l.bytes_mesh + power;
  const double share = (double)comm_host_size() / (double)comm_size(); /* of this host's processes */
  const double installed = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / share;
  if (needed > installed)
    fail(EXIT_RUN_FAILED,
         "%zu particles on a mesh of %u^3 cells need about %.1f GB of memory (particles %.1f, trees %.1f, mesh %.1f, "
         "power spectrum %.1f); "
         "machines like this one, as many as are in use, have %.1f GB: "
         "use fewer particles, a coarser gravity.pm_grid, or more machines",
         particles, l.pm_grid, 1e-9 * needed, 1e-9 * l.bytes_particles, 1e-9 * l.bytes_tree, 1e-9 * l.bytes_mesh,
         1e-9 * power, 1e-9 * installed);
}

int run_simulation(struct parameters *p, const struct run_options *options) {
  struct run r = {.parameters = p, .options = options, .checkpoint_wall = wall_clock()};
  if (p->ic.source == IC_GENERATE || p->ic.power_spectrum_file[0] || p->output.power_spectrum || p->analysis.fof)
    r.linear = linear_power_create(p);
  if (options->dry_run && p->ic.source == IC_GENERATE) {
    size_t n = (size_t)(p->box.npart_side * p->box.npart_side * p->box.npart_side);
    struct cosmology c = cosmology_from(p);
    resolve_softening(p, n);
    report_dry_run(p, n, cosmology_particle_mass(&c, p->box.size, (double)n));
    linear_power_free(r.linear);
    return 0;
  }
  if (p->ic.source == IC_GENERATE)
    require_memory(p, (size_t)(p->box.npart_side * p->box.npart_side * p->box.npart_side));
  if (!options->dry_run) {
    output_folder(p->output.dir);
    start_starpu(p, &r.trace);
    catch_signals();
  }
  struct particles particles = initial_particles(&r);
  if (options->dry_run) {
    report_dry_run(p, particles.all, particles.mass);
    particles_free(&particles);
    linear_power_free(r.linear);
    return 0;
  }
  if (r.linear && p->ic.source == IC_GADGET) { /* the file has settled the cosmology */
    linear_power_free(r.linear);
    r.linear = linear_power_create(p);
  }
  require_memory(p, particles.all);
  timeline_init(&r.timeline, p, r.state.start_a);
  if (r.timeline.end <= r.state.a && options->steps != 0 && !options->restart)
    fail(EXIT_BAD_USAGE, "time.z_end = %g is not after the initial conditions at z = %g", p->time.z_end,
         1.0 / r.state.a - 1.0);
  write_used_parameters(p);
  r.simulation = simulation_create(p, &r.cosmology, particles);
  report_begin(&r.report, r.simulation, options, r.state.a, r.timeline.end, r.state.wall_seconds);
  int code = run_steps(&r);
  report_end(&r.report, r.simulation, p->output.dir);
  simulation_free(r.simulation);
  linear_power_free(r.linear);
  message_stop();
  starpu_shutdown();
  trace_close(&r.trace);
  return code;
}
