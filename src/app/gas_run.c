/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/gas_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/app/gas_gpus.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/installed_memory.h"
#include "photons/base/output_file.h"
#include "photons/gas/comoving.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/gas/gas_file.h"
#include "photons/gas/gas_picture.h"
#include "photons/gas/gas_power.h"
#include "photons/gas/gas_waves.h"
#include "photons/ic/start.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/scheduler.h"

struct gas_run {
  struct parameters *parameters;
  struct gas *gas;
  struct gas_totals totals; /* of the present state */
  struct gas_record record;
  double last_step;   /* its length; of comoving gas in the scale factor */
  char obstacle[256]; /* why no step can be taken */
};

/** The scale factor of the next output or of the end. */
static double next_stop_comoving(const struct parameters *p, double a) {
  for (size_t i = 0; i < p->output.redshift_count; i++)
    if (1.0 > a * (1.0 + 1e-12) * (1.0 + p->output.redshifts[i]))
      return 1.0 / (1.0 + p->output.redshifts[i]);
  return 1.0 / (1.0 + p->time.z_end);
}

/** The time of the next output or of the end. */
static double next_stop(const struct parameters *p, double time) {
  if (p->gas.comoving) return next_stop_comoving(p, time);
  const double soon = time + 1e-12 * p->time.end;
  for (size_t i = 0; i < p->output.time_count; i++)
    if (p->output.times[i] > soon) return p->output.times[i];
  return p->time.end;
}

/** Until when a step may last by signals, accelerations and expansion. */
static double longest_until(const struct gas_run *r) {
  const struct gas *g = r->gas;
  const double step = r->parameters->gas.cfl * r->totals.longest_step;
  if (!g->universe.comoving) return g->time + step;
  const double most = g->time * exp(r->parameters->time.max_dlna);
  return gas_step_length(g, most) < step
             ? most
             : cosmology_after_drift(&g->universe.cosmology, g->time, step);
}

/** The time at which the next step ends. What is left before a stop is divided into two equal steps
 * where it is between one and two steps long. */
static double next_time(const struct gas_run *r) {
  const double time = r->gas->time, stop = next_stop(r->parameters, time);
  const double step = longest_until(r) - time;
  if (time + step * (1.0 + 1e-9) >= stop) return stop;
  return time + 2.0 * step > stop ? 0.5 * (time + stop) : time + step;
}

static double next(void *state, const struct progress *now) {
  const struct gas_run *r = state;
  (void)now;
  return next_time(r);
}

static void describe_mesh(FILE *out, const struct parameters *p) {
  static const char *const solvers[] = {
      [GAS_RTVD] = "relaxing TVD", [GAS_MUSCL] = "MUSCL-Hancock", [GAS_PPM] = "piecewise parabolic"};
  const char *attracting = !gas_particles_wanted(p)    ? "the gas itself"
                           : p->gas.solver == GAS_NONE ? "the particles"
                                                       : "gas and particles";
  if (p->gas.solver == GAS_NONE)
    fprintf(out, "  gas         none, Courant number %g\n", p->gas.cfl);
  else
    fprintf(out, "  gas         %s in %s precision, gamma %g, Courant number %g\n",
            solvers[p->gas.solver], p->gas.precision == GAS_DOUBLE ? "double" : "single",
            p->gas.gamma, p->gas.cfl);
  if (p->gas.scalars > 0) fprintf(out, "  scalars     %lld\n", (long long)p->gas.scalars);
  fprintf(out, "  mesh        root level of %g x %g x %g cells, %lld level%s of refinement, %s\n",
          p->gas.root[0], p->gas.root[1], p->gas.root[2], (long long)p->gas.levels,
          p->gas.levels == 1 ? "" : "s",
          p->gas.steps == GAS_STEPS_INDIVIDUAL ? "steps by level" : "shared steps");
  if (p->gas.comoving)
    fprintf(out,
            "  comoving    %g Mpc/h a side, Omega_m %g, of it %g gas, Omega_lambda %g, Omega_k %g, "
            "h %g\n",
            p->box.size, p->cosmology.omega_m, p->cosmology.omega_m * comoving_gas_share(p),
            p->cosmology.omega_lambda, cosmology_printed_curvature(p), p->cosmology.h);
  ic_print_start(out, p);
  if (*p->ic.transfer_file)
    fprintf(out, "  waves       of gas and of particles, from %s\n", p->ic.transfer_file);
  if (p->gas.gravity == GAS_GRAVITY_SELF && p->gas.comoving)
    fprintf(out, "  gravity     of %s\n", attracting);
  else if (p->gas.gravity == GAS_GRAVITY_SELF)
    fprintf(out, "  gravity     of %s, constant %g, %s\n", attracting, p->gas.newton_constant,
            p->gas.boundary[0][0] == GAS_PERIODIC ? "periodic" : "isolated");
  if (!p->gas.fix_fluxes) fprintf(out, "  gas.flux_fixup = no: nothing is conserved\n");
}

static void describe(void *state, FILE *out) {
  const struct gas_run *r = state;
  const struct gas *g = r->gas;
  describe_mesh(out, r->parameters);
  if (g->particles) fprintf(out, "  particles   %zu\n", g->particles->count);
  fprintf(out, "  patches     by level:");
  for (int level = 0; level < topology_levels(&g->topology); level++)
    fprintf(out, " %u", GAS_PATCHES * g->topology.level[level].count);
  fprintf(out, "; memory about %.1f MB\n", 1e-6 * gas_memory(g));
}

static void fill_record(struct gas_run *r, struct step_record *record) {
  const struct gas *g = r->gas;
  r->totals = gas_measure(r->gas);
  r->record = (struct gas_record){.time = g->time,
                                  .dt = r->last_step,
                                  .levels = g->topology.finest + 1,
                                  .physics = g->scheme.physics,
                                  .totals = r->totals};
  record->gas = &r->record;
  record->particles = record->kicked = 0;
  for (int level = 0; level <= g->topology.finest; level++) {
    r->record.patches[level] = GAS_PATCHES * (uint64_t)g->topology.level[level].count;
    r->record.updates[level] = g->counts.updates[level];
    record->kicked += g->counts.updates[level];
    record->particles += gas_leaf_cells(g, level);
  }
}

static bool begin(void *state, bool restarted, struct step_record *record) {
  struct gas_run *r = state;
  fill_record(r, record);
  return !restarted;
}

static const char *stuck(void *state, const struct progress *now, bool *sound) {
  struct gas_run *r = state;
  const double time = r->gas->time, step = next_time(r) - time;
  const struct parameters *p = r->parameters;
  (void)now;
  if (step > 1e-12 * (p->gas.comoving ? time : p->time.end)) return NULL;
  *sound = true;
  snprintf(r->obstacle, sizeof r->obstacle,
           "at %s the next step would be %.3g%s, too short to get anywhere: the gas is too fast or "
           "too hot for cells so small",
           gas_moment(r->gas).text, step, p->gas.comoving ? " in a" : "");
  return r->obstacle;
}

/** After a step: it must not have become longer than signals in the gas allow. */
static void require_courant(const struct gas_run *r) {
  if (r->totals.courant > 1.0)
    fail(EXIT_RUN_FAILED,
         "the step to %s was too long: in its course the Courant number of level %d rose from "
         "gas.cfl = %g to %.3g, and the scheme needs less than 1; take a smaller gas.cfl",
         gas_moment(r->gas).text, r->totals.courant_level, r->parameters->gas.cfl,
         r->totals.courant);
}

static void step(void *state, struct progress *now, bool (*output_due)(void *context, double a),
                 void *context, struct step_record *record) {
  struct gas_run *r = state;
  const double end = next_time(r);
  (void)output_due;
  (void)context;
  r->last_step = end - r->gas->time;
  gas_step_to(r->gas, end);
  now->a = end;
  fill_record(r, record);
  require_courant(r);
}

/** What a file says of the state. The octree stays the run's. */
static struct gas_file file_of(const struct gas_run *r, const struct progress *now) {
  const struct gas *g = r->gas;
  struct gas_file f = {.topology = g->topology,
                       .cell = g->cell,
                       .physics = g->scheme.physics,
                       .real = g->scheme.kernels->real_size,
                       .particles = g->particles,
                       .gravity = g->gravity != NULL,
                       .newton_constant = g->gravity ? g->gravity->newton_constant : 0.0,
                       .moment = {.a = now->a,
                                  .start_a = now->start_a,
                                  .last_output = now->last_output,
                                  .wall_seconds = now->wall_seconds,
                                  .step = now->step,
                                  .outputs_done = now->outputs_done}};
  double dt = r->last_step;
  for (int l = 0; l <= g->topology.finest; l++, dt *= g->scheme.individual ? 0.5 : 1.0)
    f.level[l] = (struct gas_file_level){g->time, dt, g->level[l].steps};
  return f;
}

static void *group_cells(void *context, int level, uint32_t group) {
  const struct gas_run *r = context;
  return gas_cells(r->gas, level, group);
}

static void group_potential(void *context, int level, uint32_t group, void *cells) {
  const struct gas_run *r = context;
  gravity_copy_potential(r->gas, level, group, cells);
}

static double write_output(void *state, const struct progress *now, size_t number) {
  struct gas_run *r = state;
  char path[PARAMETER_PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/gas_%03zu.hdf5", r->parameters->output.dir, number);
  struct gas_file f = file_of(r, now);
  if (r->gas->gravity) f.potential = group_potential;
  gas_acquire(r->gas, STARPU_R);
  gas_file_write(path, r->parameters, &f, group_cells, r);
  if (r->gas->universe.comoving && r->parameters->output.power_spectrum)
    gas_power_write(r->gas, r->parameters, number);
  if (r->parameters->output.images) gas_pictures_write(r->gas, r->parameters, number);
  gas_release(r->gas);
  return 0.0;
}

static void checkpoint(void *state, const char *path, const struct progress *now) {
  struct gas_run *r = state;
  const struct gas_file f = file_of(r, now);
  gas_acquire(r->gas, STARPU_R);
  gas_checkpoint_write(path, r->parameters, &f, group_cells, r);
  gas_release(r->gas);
}

static void frame(void *state, const struct progress *now, const char *path) {
  struct gas_run *r = state;
  (void)now;
  gas_acquire(r->gas, STARPU_R);
  gas_frame_write(r->gas, r->parameters, path);
  gas_release(r->gas);
}

static void end(void *state) {
  struct gas_run *r = state;
  gas_free(r->gas);
  free(r);
}

/** Checkpoints of runs at rest once had exp(t/time.end) in the place of times, from 1 on. */
static bool is_exponential(const struct gas_file *f, const struct parameters *p) {
  return !p->gas.comoving && f->moment.start_a == 1.0;
}

/** When the last output was. */
static double last_output(const struct gas_file *f, const struct parameters *p) {
  const struct gas_moment *m = &f->moment;
  if (!is_exponential(f, p)) return m->last_output;
  if (m->last_output <= 0.0) return NO_OUTPUT;
  return m->a == 1.0 ? 0.0 : f->level[0].time * log(m->last_output) / log(m->a);
}

static struct progress progress_of(const struct gas_file *f, const struct parameters *p) {
  const struct gas_moment *m = &f->moment;
  return (struct progress){.a = p->gas.comoving ? m->a : f->level[0].time,
                           .start_a = is_exponential(f, p) ? 0.0 : m->start_a,
                           .step = m->step,
                           .outputs_done = m->outputs_done,
                           .last_output = last_output(f, p),
                           .wall_seconds = m->wall_seconds};
}

/** Where a run begins. */
static struct progress start_of(const struct parameters *p) {
  const double a = p->gas.comoving ? 1.0 / (1.0 + p->ic.z_init) : 0.0;
  return (struct progress){.a = a, .start_a = a, .last_output = NO_OUTPUT};
}

/** The outputs that lie ahead. */
static void set_timeline(struct timeline *t, const struct parameters *p,
                         const struct progress *now) {
  static const double same = 1e-12;
  if (p->gas.comoving) {
    timeline_init(t, p, now->start_a, now->a, now->last_output);
    return;
  }
  *t = (struct timeline){.is_time = true, .end = p->time.end, .same = same * p->time.end};
  for (size_t i = 0; i < p->output.time_count; i++) {
    const double time = p->output.times[i];
    if (time >= now->a - t->same && time > now->last_output + t->same)
      t->output[t->outputs++] = time;
  }
}

static void restore_particles(struct gas *g, const char *path) {
  size_t count;
  struct gas_particle *particle = gas_file_read_particles(path, &count);
  gas_particles_add(g, particle, count);
  gas_place_particles(g, 0);
  free(particle);
}

/** Levels and cells of a checkpoint. */
static void restore(struct gas_run *r, const char *path, const struct gas_file *f) {
  struct gas *g = r->gas;
  for (int l = 0; l <= f->topology.finest; l++) {
    const struct gas_tree_level *level = &f->topology.level[l];
    const uint32_t own = level->own.end - level->own.first;
    uint64_t *key = allocate(own, sizeof *key, "patch groups");
    if (own > 0) memcpy(key, level->key, own * sizeof *key);
    gas_restore_level(g, l, key, own, f->level[l].steps);
  }
  gravity_divide_potentials(g);
  gas_link(g, 0, g->topology.finest);
  g->time = f->level[0].time;
  if (g->universe.comoving) g->universe.scale = g->time;
  r->last_step = f->level[0].dt;
  struct gas_file here = *f;
  here.topology = g->topology;
  gas_acquire(g, STARPU_W);
  gas_file_read(path, &here, group_cells, r);
  gas_release(g);
  if (g->particles) restore_particles(g, path);
}

static void *create(struct parameters *p, const char *checkpoint_path, struct progress *now,
                    struct timeline *timeline) {
  struct gas_run *r = allocate(1, sizeof *r, "the run");
  *r = (struct gas_run){.parameters = p, .gas = gas_create(p)};
  *now = start_of(p);
  if (checkpoint_path) {
    char *found;
    struct gas_file f = gas_checkpoint_open(checkpoint_path, p, false, &found);
    restore(r, found, &f);
    *now = progress_of(&f, p);
    topology_free(&f.topology);
    free(found);
  } else {
    struct gas_ic ic = gas_ic_make(p);
    if (r->gas->particles) gas_particles_begin(r->gas, p);
    gas_begin(r->gas, &ic);
    gas_ic_free(&ic);
  }
  if (r->gas->gravity) gravity_solve(r->gas, 0, 1.0);
  set_timeline(timeline, p, now);
  return r;
}

static void dry(struct parameters *p, const char *checkpoint_path, struct progress *now,
                struct timeline *timeline) {
  scheduler_check(p);
  if (comm_rank() == 0) output_folder_check(p->output.dir);
  *now = start_of(p);
  size_t particles = 0;
  if (checkpoint_path) {
    char *found;
    struct gas_file f = gas_checkpoint_open(checkpoint_path, p, true, &found);
    *now = progress_of(&f, p);
    particles = f.particle_count;
    topology_free(&f.topology);
    free(found);
  } else if (p->ic.source == IC_ARRAY) {
    struct gas_ic ic = gas_ic_make(p); /* looks at the file */
    gas_ic_free(&ic);
  } else if (p->ic.source == IC_GENERATE) {
    gas_waves_check(p);
  }
  if (!checkpoint_path && gas_particles_wanted(p)) particles = gas_particles_look(p);
  gas_require_root(p, !checkpoint_path);
  set_timeline(timeline, p, now);
  parameters_print(p, stdout);
  printf("\n# what a run would use\n");
  describe_mesh(stdout, p);
  if (particles > 0)
    printf("  particles   %zu, %.1f MB\n", particles, 1e-6 * gas_particles_bytes(particles));
  const double root = gas_root_memory(p), patch = gas_bytes_per_group(p),
               at_times = gas_memory_at_times(p, particles, !checkpoint_path);
  const double left = installed_memory() - root - gas_particles_bytes(particles) - at_times;
  printf("  memory      about %.1f MB for the root level, %.3f MB for each refined patch;\n",
         1e-6 * root, 1e-6 * patch);
  if (at_times > 0.0)
    printf("              %.1f MB more at times, for initial waves, power spectra or pictures;\n",
           1e-6 * at_times);
  printf("              %.3g patches have room in the %.1f GB installed\n", left / patch,
         1e-9 * installed_memory());
}

static struct moment_text moment_at_rest(const struct parameters *p, double a) {
  struct moment_text m;
  (void)p;
  snprintf(m.text, sizeof m.text, "t = %.6g", a);
  return m;
}

static struct moment_text moment_of_comoving(const struct parameters *p, double a) {
  (void)p;
  return cosmology_moment(false, a);
}

/** What solvers of gas have in common. */
#define OF_GAS                                                                          \
  .choose_devices = gas_choose_gpus, .require_possible = gas_require_root, .dry = dry,  \
  .create = create, .describe = describe, .begin = begin, .stuck = stuck, .step = step, \
  .write = write_output, .next = next, .frame = frame, .checkpoint = checkpoint, .end = end

const struct solver solver_of_gas = {.log = &log_of_gas, .moment = moment_at_rest, OF_GAS};
const struct solver solver_of_comoving_gas = {
    .log = &log_of_comoving_gas, .moment = moment_of_comoving, OF_GAS};
