/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/nbody_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/analysis/analysis.h"
#include "photons/analysis/energy.h"
#include "photons/app/memory.h"
#include "photons/app/products.h"
#include "photons/app/softening.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/species.h"
#include "photons/domain/balance.h"
#include "photons/ic/ic.h"
#include "photons/io/snapshot.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/trace.h"
#include "photons/step/block_step.h"
#include "photons/step/escapers.h"
#include "photons/step/statistics.h"
#include "photons/step/step.h"

struct nbody_run {
  struct parameters *parameters;
  struct cosmology cosmology;
  struct linear_power *linear; /* NULL where the parameters name no spectrum */
  struct species *species;     /* NULL: none but the particles */
  const struct timeline *timeline;
  struct nbody *nbody;
  struct sort_policy policy;
  struct renewal_policy renewals;  /* of isolated systems with block time steps */
  struct step_state steps;         /* of a checkpoint */
  uint32_t mesh_cells;             /* of a checkpoint; 0: there is none */
  uint32_t next_mesh_cells;        /* of the mesh in the next steps */
  struct layzer_irvine energy;     /* isolated: energy.work is what escapers took with them */
  struct escapers escapers;        /* of this step */
  struct products products;        /* of the output at work, */
  bool begun;                      /* whose first part is done */
  double beside_seconds;           /* and took so long */
  struct progress output_progress; /* when it was begun */
  char obstacle[512];              /* why no step can be taken */
};

static bool isolated(const struct parameters *p) { return p->box.boundary == BOUNDARY_ISOLATED; }

/** What the program does for particles of one mass only. */
static void leave_out_analysis(struct parameters *p, const struct particles *s) {
  if (p->time.step == STEP_PM) p->output.energy_steps = 0; /* of pairs, which it has not */
  if (isolated(p) || !particles_have(s, COLUMN_relative_mass)) return;
  const bool wanted = p->analysis.fof || p->output.power_spectrum || p->output.images ||
                      p->output.movie > 0;
  if (wanted && comm_rank() == 0)
    warn("particles have different masses: there are no halos, power spectra, pictures, movies or "
         "potential energies of this run");
  p->analysis.fof = p->output.power_spectrum = p->output.images = false;
  p->output.movie = p->output.energy_steps = 0;
}

static bool spectrum_wanted(const struct parameters *p) {
  if (isolated(p)) return false;
  return p->ic.source == IC_GENERATE || p->ic.power_spectrum_file[0] || p->output.power_spectrum ||
         p->analysis.fof;
}

static struct progress progress_of(const struct checkpoint_state *state) {
  return (struct progress){.a = state->a,
                           .start_a = state->start_a,
                           .step = state->step,
                           .outputs_done = state->outputs_done,
                           .last_output = state->last_output,
                           .wall_seconds = state->wall_seconds};
}

/** The scale factor, or the time, of initial conditions. */
static double start_of(const struct parameters *p) {
  return isolated(p) ? 0.0 : 1.0 / (1.0 + p->ic.z_init);
}

/** Settle softening lengths, how much memory the run may use, and how fine its mesh may become.
 * @param a     where the run began
 * @param next  cells a side of a checkpoint's next mesh, which the run takes however fine it is; else 0 */
static void settle(struct parameters *p, const struct particles *s, double a, int64_t next) {
  const struct softening_types types = softening_resolve(p, s);
  memory_settle(p, s->all, isolated(p) ? 0.0 : softening_finest_mesh(p, &types, a));
  const uint32_t first = layout_choose(p, s->all).mesh.cells;
  if (next > p->gravity.pm_grid_most && next > first) p->gravity.pm_grid_most = next;
  softening_require(p, &types, a, first);
  softening_warn(p, &types, a, first);
}

static struct particles initial_particles(struct nbody_run *r, const char *checkpoint,
                                          struct progress *now) {
  struct parameters *p = r->parameters;
  struct particles particles;
  if (checkpoint) {
    struct checkpoint_state state;
    particles = checkpoint_read(checkpoint, p, &state);
    p->box.size = particles.box;
    r->policy = state.policy;
    r->renewals = state.renewals;
    r->steps = state.steps;
    r->mesh_cells = (uint32_t)state.mesh_cells;
    r->next_mesh_cells = (uint32_t)state.next_mesh_cells;
    r->energy = state.energy;
    r->species = species_create(p);
    *now = progress_of(&state);
  } else {
    if (p->ic.source == IC_GADGET && !isolated(p)) particles = ic_read_gadget(p);
    r->cosmology = cosmology_from(p);
    r->species = species_create(p);
    if (p->ic.source == IC_GENERATE)
      particles = ic_generate(p, &r->cosmology, r->linear, r->species);
    if (isolated(p)) particles = ic_isolated(p);
    *now = (struct progress){.a = start_of(p), .start_a = start_of(p), .last_output = NO_OUTPUT};
  }
  r->cosmology = cosmology_from(p);
  p->box.size = particles.box;
  settle(p, &particles, now->start_a, r->next_mesh_cells);
  leave_out_analysis(p, &particles);
  return particles;
}

/** Follow an upper limit of the softening in physical units. */
static void apply_softening(struct nbody_run *r, double a) {
  const struct parameters *p = r->parameters;
  if (p->gravity.softening_max_physical > 0.0)
    short_range_set_softening(&r->nbody->short_range, p, p->gravity.softening_max_physical / a);
}

/** Let groups change owners where it pays. */
static void balance(struct nbody_run *r, int64_t step) {
  if (comm_size() == 1 || step % BALANCE_STEPS != BALANCE_STEPS - 1) return;
  uint32_t *first = allocate((size_t)comm_size() + 1, sizeof *first, "owners of groups");
  if (balance_wanted(&r->nbody->domain, first)) {
    nbody_migrate(r->nbody, first);
    step_refit(r->nbody);
  }
  free(first);
}

/** The side of the lattice that the ids number; 0: unknown. */
static size_t lattice_side(const struct parameters *p) {
  return p->ic.source == IC_GENERATE && !p->ic.glass[0] ? (size_t)p->box.npart_side : 0;
}

/** What the next output consists of. Spectra of all outputs have the bins of the first mesh. */
static struct products products_of(const struct nbody_run *r, double a, size_t number) {
  return (struct products){
      .parameters = r->parameters,
      .cosmology = &r->cosmology,
      .linear = r->linear,
      .particles = &r->nbody->domain.particles,
      .depth = r->nbody->domain.depth,
      .lattice = lattice_side(r->parameters),
      .regular = r->parameters->ic.source == IC_GENERATE,
      .a = a,
      .number = number,
      .mesh = layout_choose(r->parameters, r->nbody->domain.particles.all).mesh.cells,
      .snapshot = true};
}

/** The first part of an output, which needs only positions, beside the tasks of the forces. */
static void write_positions(void *context) {
  struct nbody_run *r = context;
  const double start = wall_clock();
  r->products = products_of(r, r->output_progress.a, (size_t)r->output_progress.outputs_done);
  domain_acquire_positions(&r->nbody->domain);
  products_write_positions(&r->products);
  domain_release_positions(&r->nbody->domain);
  r->beside_seconds = wall_clock() - start;
  r->begun = true;
}

/** The potential energy is computed at the first forces and at every so many steps from there. */
static void measure_energy(struct nbody_run *r, double a, int64_t step, struct statistics *s) {
  const int64_t interval = r->parameters->output.energy_steps;
  layzer_irvine_advance(&r->energy, a, s->kinetic);
  const bool last = isolated(r->parameters) && timeline_ended(r->timeline, r->nbody->a);
  if (interval == 0 || (step % interval != 0 && !last)) return;
  if (isolated(r->parameters)) {
    s->escaped = r->energy.work;
    statistics_measure_energy(r->nbody, s);
  } else {
    s->potential = potential_energy(r->nbody, a);
  }
  s->layzer_irvine = layzer_irvine_integral(&r->energy, s->potential, &s->layzer_irvine_error);
}

static void fill_record(struct nbody_run *r, double a, struct step_record *record) {
  record->particles = r->nbody->domain.particles.all;
  const struct work_counts last = short_range_work(&r->nbody->short_range);
  record->work = record->block.sub_steps > 0 ? record->block.work : last;
  record->kicked = record->particles;
  if (record->block.sub_steps > 0) record->kicked = 0;
  for (int k = 0; k < RUNGS && record->block.sub_steps > 0; k++)
    record->kicked += record->block.particles[k];
  record->statistics = statistics_measure(r->nbody, cosmology_scale(&r->cosmology, a));
  record->owner_seconds = r->nbody->domain.group_seconds;
  const double forces = (double)record->work.pairs / fmax((double)last.pairs, 1.0);
  r->next_mesh_cells = mesh_policy_choose(r->parameters, record->particles,
                                          nbody_mesh_cells(r->nbody), (double)record->work.pairs);
  sort_policy_account(&r->policy, &r->nbody->domain, &last, forces);
  measure_energy(r, cosmology_scale(&r->cosmology, a), record->step, &record->statistics);
}

/** Which finer mesh a run may change to, and its memory, for people. */
static const char *finer_mesh(const struct parameters *p, size_t n, uint32_t first) {
  static char text[128];
  struct parameters finer = *p;
  if (p->gravity.pm_grid_most <= first) return "";
  finer.gravity.pm_grid = p->gravity.pm_grid_most;
  const struct memory_use use = memory_estimate(&finer, n);
  snprintf(text, sizeof text, "; later at most %lld^3, then %.1f MB of memory in all",
           (long long)p->gravity.pm_grid_most, 1e-6 * memory_peak(&use));
  return text;
}

static void print_layout(FILE *out, const struct parameters *p, size_t n) {
  const struct layout l = layout_choose(p, n);
  const struct memory_use m = memory_estimate(p, n);
  char on_gpus[64] = "";
  if (m.on_gpus > 0.0) snprintf(on_gpus, sizeof on_gpus, ", less %.1f on GPUs", 1e-6 * m.on_gpus);
  fprintf(out, "  groups      %u of %zu particles, leaves of at most %u (tree depth %u)\n",
          l.domain.group_count, (n + l.domain.group_count - 1) / l.domain.group_count,
          l.domain.leaf_size, l.domain.depth);
  if (l.mesh.cells > 0)
    fprintf(out, "  mesh        %u^3%s, r_split %.3g, r_cut %.3g cells%s\n", l.mesh.cells,
            p->gravity.interlace ? " interlaced" : "", p->gravity.r_split, p->gravity.r_cut,
            finer_mesh(p, n, l.mesh.cells));
  fprintf(out,
          "  memory      about %.1f MB: program %.1f, particles %.1f, trees %.1f, mesh %.1f,\n"
          "              tasks %.1f, at times %.1f%s\n",
          1e-6 * memory_peak(&m), 1e-6 * m.program, 1e-6 * m.particles, 1e-6 * m.trees,
          1e-6 * m.mesh, 1e-6 * m.tasks, 1e-6 * m.at_times, on_gpus);
}

static const char *on_average(const struct particles *s) {
  return particles_have(s, COLUMN_relative_mass) ? " on average" : "";
}

static void print_softening(FILE *out, const struct parameters *p, const struct particles *s) {
  const char *unit = isolated(p) ? "kpc" : "kpc/h comoving";
  const char *kernel = p->gravity.softening_kernel == SOFTENING_SPLINE
                           ? "spline, Plummer-equivalent"
                           : "Plummer";
  if (!particles_have(s, COLUMN_type) || !softening_differs(p)) {
    fprintf(out, "  softening   %g %s (%s)\n", softening_of_type(p, PARTICLE_HALO), unit, kernel);
    return;
  }
  fprintf(out, "  softening   %g", softening_of_type(p, 1));
  for (unsigned t = 2; t < PARTICLE_TYPES; t++) fprintf(out, ", %g", softening_of_type(p, t));
  fprintf(out, " %s of types 1 to %d (%s)\n", unit, PARTICLE_TYPES - 1, kernel);
}

static void print_physics(FILE *out, const struct parameters *p, const struct particles *s) {
  fprintf(out, "  particles   %zu (%.4g^3) of %.4g Msun/h%s in %g Mpc/h\n", s->all,
          cbrt((double)s->all), 1e10 * s->mass, on_average(s), p->box.size);
  fprintf(out,
          "  cosmology   Omega_m %g, Omega_lambda %g, Omega_k %g, h %g, w0 %g, wa %g, Omega_r %g\n",
          p->cosmology.omega_m, p->cosmology.omega_lambda, cosmology_printed_curvature(p),
          p->cosmology.h, p->cosmology.w0, p->cosmology.wa, p->cosmology.omega_r);
  const struct cosmology c = cosmology_from(p);
  if (c.neutrinos.species)
    fprintf(out, "  neutrinos   %u with mass: Omega_nu %.4g of Omega_m, linear, from %s\n",
            c.neutrinos.species, neutrinos_density(&c.neutrinos, 1.0), p->cosmology.species_file);
  else if (p->cosmology.species_file[0])
    fprintf(out, "  species     linear, from %s\n", p->cosmology.species_file);
}

static void print_isolated(FILE *out, const struct parameters *p, const struct particles *s) {
  fprintf(out, "  particles   %zu of %.4g Msun%s, isolated, in a frame of %g kpc\n", s->all,
          1e10 * s->mass, on_average(s), 1e3 * p->box.size);
}

static void print_spectrum(FILE *out, const struct parameters *p,
                           const struct linear_power *linear) {
  const double found = linear ? linear_power_table_sigma8(linear) : 0.0;
  if (found > 0.0)
    fprintf(out, "  spectrum    %s: sigma8 %.5g, %s%.5g\n", p->ic.power_spectrum_file, found,
            p->ic.normalise ? "scaled to " : "as it is; cosmology.sigma8 ", p->cosmology.sigma8);
}

/** @param linear  or NULL */
static void print_run(FILE *out, const struct parameters *p, const struct particles *s,
                      const struct linear_power *linear) {
  if (isolated(p))
    print_isolated(out, p, s);
  else
    print_physics(out, p, s);
  print_spectrum(out, p, linear);
  print_softening(out, p, s);
  print_layout(out, p, s->all);
}

static void describe(void *state, FILE *out) {
  const struct nbody_run *r = state;
  const struct particles *s = &r->nbody->domain.particles;
  print_run(out, r->parameters, s, r->linear);
}

/** Some particles of an isolated system are farthest out, and are pulled inwards: accelerations that
 * are all 0 are too small for floats. */
static void require_forces(const struct nbody_run *r) {
  const struct particles *s = &r->nbody->domain.particles;
  if (!isolated(r->parameters) || step_acc_max(r->nbody) > 0.0 || comm_rank() > 0) return;
  fail(EXIT_BAD_INPUT,
       "all accelerations vanish in single precision: particles of %g Msun on average are too "
       "light for "
       "a system of this size; are the units of the masses right (ic.unit_mass_msun)?",
       1e10 * s->mass);
}

/** From now on forces are those of the scale factor a. */
static void respond(struct nbody_run *r, double a) {
  if (!r->species) return;
  struct response *response = response_create(r->species, a);
  long_range_respond(&r->nbody->long_range, response);
  response_free(response);
}

/** A checkpoint holds the accelerations and the order of the particles: both are kept, so that the
 * run goes on as if it had not stopped. */
static bool begin(void *state, bool restarted, struct step_record *record) {
  struct nbody_run *r = state;
  r->nbody->step = record->step;
  r->nbody->a = record->a;
  apply_softening(r, record->a);
  respond(r, record->a);
  if (restarted) {
    step_measure(r->nbody);
    return false;
  }
  step_first_forces(r->nbody);
  require_forces(r);
  record->rebuilt = 1;
  fill_record(r, record->a, record);
  return true;
}

static const char *stuck(void *state, const struct progress *now, bool *sound) {
  struct nbody_run *r = state;
  const struct parameters *p = r->parameters;
  if (timeline_counted(p)) return NULL;
  const double acc_max = step_acc_max(r->nbody), softening = softening_at(p, now->a);
  const double dlna = timeline_adaptive_dlna(p, &r->cosmology, now->a, acc_max, softening);
  if (dlna >= timeline_shortest(p)) return NULL;
  *sound = isfinite(acc_max);
  char step[64], least[64] = "";
  snprintf(step, sizeof step, "%.3g in ln a", dlna);
  if (isolated(p)) {
    snprintf(step, sizeof step, "%.3g Myr", cosmology_myr(dlna));
    snprintf(least, sizeof least, " of time.max_step = %g Myr", p->time.max_step);
  }
  snprintf(
      r->obstacle, sizeof r->obstacle,
      "at %s the next step would be %s, below time.min_dlna = %g%s: the largest acceleration "
      "is %.3g (km/s)^2/%s and the softening %.3g %s; a new run with a larger "
      "gravity.softening or time.eta takes longer steps, a smaller time.min_dlna lets this run "
      "go on",
      cosmology_moment(isolated(p), now->a).text, step, p->time.min_dlna, least,
      isolated(p) ? 1e-3 * acc_max : acc_max, isolated(p) ? "kpc" : "(Mpc/h)", 1e3 * softening,
      isolated(p) ? "kpc" : "kpc/h");
  return r->obstacle;
}

/** Tell the policies what was done. */
static void note_order(struct nbody_run *r, struct sort_choice choice) {
  sort_policy_done(&r->policy, choice);
  if (choice.rebuild) r->renewals = (struct renewal_policy){0};
}

/** Before a step: take particles beyond box.escape_radius out of the system. */
static void release_escapers(struct nbody_run *r) {
  const double radius = r->parameters->box.escape_radius;
  escapers_free(&r->escapers);
  if (radius == 0.0) return;
  r->escapers = escapers_take(&r->nbody, 1e-3 * radius);
  if (r->escapers.count == 0) return;
  r->energy.work += r->escapers.energy;
  note_order(r, (struct sort_choice){.rebuild = true});
  say("%zu particle%s escaped beyond %g kpc at %s, %zu remain\n", r->escapers.count,
      r->escapers.count == 1 ? "" : "s", radius, cosmology_moment(true, r->escapers.a).text,
      r->nbody->domain.particles.all);
}

/** Before a step: change to a finer mesh where that pays. Steps that kick by whole forces begin with
 * those of the mesh before. A base step of block time steps cannot: it applies the forces of the mesh
 * and of the pairs apart from each other, and both must be of the same split.
 * @return whether it did. The step must then sort after its drift: the sort policy compares work with that
 *         after the last sort, which was the work of another mesh */
static bool refine_mesh(struct nbody_run *r, double a) {
  if (r->next_mesh_cells == nbody_mesh_cells(r->nbody)) return false;
  nbody_change_mesh(r->nbody, r->next_mesh_cells);
  respond(r, a);
  apply_softening(r, a);
  step_refit(r->nbody); /* boxes are in units of r_cut */
  sort_policy_rescale(&r->policy, &r->nbody->domain);
  if (r->parameters->time.step == STEP_BLOCK) step_forces_anew(r->nbody);
  say("the mesh has %u^3 cells from %s on\n", r->next_mesh_cells, cosmology_moment(false, a).text);
  return true;
}

/** Move particles into new groups, or groups to other ranks, before forces on all particles. */
static void reorder(struct nbody_run *r, struct sort_choice *choice) {
  struct parameters *p = r->parameters;
  const double side = r->nbody->domain.particles.box;
  if (side != p->box.size)
    *choice = (struct sort_choice){.rebuild = true}; /* the frame has grown */
  p->box.size = side;
  if (choice->rebuild) step_rebuild(r->nbody);
  if (choice->sort) step_sort(r->nbody);
  note_order(r, *choice);
}

/** Whether trees and groups are renewed where the work demands it, inside base steps, too, instead
 * of at their ends. */
static bool renews_within(const struct parameters *p) {
  return isolated(p) && p->time.step == STEP_BLOCK && p->runtime.sort_interval == 0 &&
         p->runtime.rebuild_interval == 0;
}

/** A base step of block time steps. */
static void block_step(struct nbody_run *r, double a0, double a1, struct sort_choice *choice,
                       void (*meanwhile)(void *), struct step_record *record) {
  struct base_step b = block_open(r->nbody, r->parameters, &r->cosmology, a0, a1);
  b.policy = renews_within(r->parameters) ? &r->renewals : NULL;
  block_rungs(r->nbody, record->rungs);
  while (block_advance(r->nbody, &b)) {}
  reorder(r, choice);
  apply_softening(r, a1);
  block_close(r->nbody, &b, meanwhile, r);
  record->block = b;
}

/** The scale factor at the end of the next step. */
static double next(void *state, const struct progress *now) {
  const struct nbody_run *r = state;
  return timeline_next(r->timeline, r->parameters, &r->cosmology, now->a, step_acc_max(r->nbody),
                       softening_at(r->parameters, now->a));
}

/** Of a step that kicks all particles by whole forces. */
static struct kick_factors kicks_of(const struct parameters *p, const struct cosmology *c,
                                    double a0, double a1) {
  if (p->time.step == STEP_PM && p->time.kicks == KICKS_GROWTH)
    return cosmology_growth_kicks(c, a0, a1);
  const double middle = moment_middle(c->isolated, a0, a1);
  return (struct kick_factors){cosmology_kick(c, a0, middle), cosmology_kick(c, middle, a1)};
}

static void step(void *state, struct progress *now, bool (*output_due)(void *context, double a),
                 void *context, struct step_record *record) {
  struct nbody_run *r = state;
  const struct parameters *p = r->parameters;
  const struct cosmology *c = &r->cosmology;
  const double a0 = now->a;
  release_escapers(r);
  const bool refined = refine_mesh(r, a0);
  const double a1 = next(r, now);
  r->nbody->step = now->step + 1;
  r->nbody->a = a1;
  balance(r, now->step);
  respond(r, a1);
  struct sort_choice choice = renews_within(p) ? (struct sort_choice){false, false}
                                               : sort_policy_choose(&r->policy, p,
                                                                    r->nbody->domain.particles.all);
  if (refined && !choice.rebuild) choice.sort = true;
  /* An output in the memory of the mesh comes after the forces. */
  void (*meanwhile)(void *) = output_due(context, a1) && !nbody_rests(r->nbody) ? write_positions
                                                                                : NULL;
  now->a = a1;
  r->output_progress = *now;
  if (p->time.step == STEP_BLOCK) {
    block_step(r, a0, a1, &choice, meanwhile, record);
  } else {
    const struct kick_factors kick = kicks_of(p, c, a0, a1);
    step_drift(r->nbody, kick.open, cosmology_drift(c, a0, a1));
    reorder(r, &choice);
    apply_softening(r, a1);
    step_forces(r->nbody, kick.close, meanwhile, r);
  }
  record->rebuilt = choice.rebuild + record->block.rebuilds;
  record->sorted = choice.sort + record->block.sorts;
  record->escapers = &r->escapers;
  fill_record(r, a1, record);
}

/** The potential of all particles, for a snapshot that has it; else NULL. */
static float *snapshot_potential(struct nbody_run *r) {
  const struct parameters *p = r->parameters;
  if (!p->output.potential || !p->output.snapshots) return NULL;
  float *potential = allocate(r->nbody->domain.particles.count, sizeof *potential, "potentials");
  potential_of_particles(r->nbody, potential);
  return potential;
}

static double write_output(void *state, const struct progress *now, size_t number) {
  struct nbody_run *r = state;
  const double beside = r->begun ? r->beside_seconds : 0.0;
  float *potential = snapshot_potential(r);
  domain_acquire(&r->nbody->domain);
  r->nbody->domain.particles.potential = potential;
  if (!r->begun) {
    r->products = products_of(r, now->a, number);
    products_write_positions(&r->products);
  }
  products_write_rest(&r->products);
  r->nbody->domain.particles.potential = NULL;
  domain_release(&r->nbody->domain);
  free(potential);
  r->begun = false;
  return beside;
}

static void frame(void *state, const struct progress *now, const char *path) {
  struct nbody_run *r = state;
  domain_acquire_positions(&r->nbody->domain);
  const struct products products = products_of(r, now->a, 0);
  products_draw_frame(&products, path);
  domain_release_positions(&r->nbody->domain);
}

static void checkpoint(void *state, const char *path, const struct progress *now) {
  struct nbody_run *r = state;
  const struct checkpoint_state c = {.a = now->a,
                                     .start_a = now->start_a,
                                     .step = now->step,
                                     .outputs_done = now->outputs_done,
                                     .last_output = now->last_output,
                                     .policy = r->policy,
                                     .renewals = r->renewals,
                                     .steps = r->nbody->steps,
                                     .mesh_cells = nbody_mesh_cells(r->nbody),
                                     .next_mesh_cells = r->next_mesh_cells,
                                     .energy = r->energy,
                                     .wall_seconds = now->wall_seconds};
  domain_acquire(&r->nbody->domain);
  checkpoint_write(path, r->parameters, &r->nbody->domain.particles, &c);
  domain_release(&r->nbody->domain);
}

static void end(void *state) {
  struct nbody_run *r = state;
  escapers_free(&r->escapers);
  nbody_free(r->nbody);
  linear_power_free(r->linear);
  species_free(r->species);
  free(r);
}

/** Particles that the initial conditions of the parameters have, if they are generated; else 0. */
static size_t generated_count(const struct parameters *p) {
  if (p->ic.source != IC_GENERATE) return 0;
  return (size_t)(p->box.npart_side * p->box.npart_side * p->box.npart_side);
}

/** Of generated particles, whose softening must go with the mesh, too. */
static void require_possible(const struct parameters *p, bool begins) {
  (void)begins;
  const struct particles generated = {.all = generated_count(p)};
  if (generated.all == 0) return;
  struct parameters resolved = *p;
  const struct softening_types types = softening_resolve(&resolved, &generated);
  softening_require(&resolved, &types, start_of(p), layout_choose(p, generated.all).mesh.cells);
  memory_require(p, generated.all);
}

static void print_dry(const struct parameters *p, const struct particles *particles,
                      const struct linear_power *linear) {
  memory_require(p, particles->all);
  parameters_print(p, stdout);
  printf("\n# what a run would use\n");
  print_run(stdout, p, particles, linear);
}

static void dry(struct parameters *p, const char *checkpoint, struct progress *now,
                struct timeline *timeline) {
  scheduler_check(p);
  if (comm_rank() == 0) output_folder_check(p->output.dir);
  struct linear_power *linear = spectrum_wanted(p) ? linear_power_create(p) : NULL;
  struct particles particles = {0};
  size_t n = generated_count(p);
  int64_t next_mesh = 0;
  if (checkpoint) {
    struct checkpoint_state state;
    particles = checkpoint_look(checkpoint, p, &state);
    next_mesh = state.next_mesh_cells;
    p->box.size = particles.box;
    *now = progress_of(&state);
  } else {
    if (isolated(p))
      particles = ic_isolated(p);
    else if (p->ic.source == IC_GADGET)
      particles = ic_read_gadget(p);
    if (isolated(p)) p->box.size = particles.box;
    *now = (struct progress){.a = start_of(p), .start_a = start_of(p), .last_output = NO_OUTPUT};
  }
  if (particles.all > 0) n = particles.all;
  timeline_init(timeline, p, now->start_a, now->a, now->last_output);
  const struct cosmology c = cosmology_from(p);
  if (particles.all == 0) {
    particles.all = n;
    particles.mass = cosmology_particle_mass(&c, p->box.size, (double)n);
  }
  species_free(species_create(p)); /* what is wrong with it is said here, too */
  settle(p, &particles, now->start_a, next_mesh);
  print_dry(p, &particles, linear);
  particles_free(&particles);
  linear_power_free(linear);
}

static void *create(struct parameters *p, const char *checkpoint_path, struct progress *now,
                    struct timeline *timeline) {
  struct nbody_run *r = allocate(1, sizeof *r, "the run");
  *r = (struct nbody_run){.parameters = p, .timeline = timeline};
  if (spectrum_wanted(p)) r->linear = linear_power_create(p);
  struct particles particles = initial_particles(r, checkpoint_path, now);
  if (r->linear && p->ic.source == IC_GADGET) { /* the file has settled the cosmology */
    linear_power_free(r->linear);
    r->linear = linear_power_create(p);
  }
  p->box.size = particles.box;
  memory_require(p, particles.all);
  timeline_init(timeline, p, now->start_a, now->a, now->last_output);
  r->nbody = nbody_create(p, particles);
  r->nbody->steps = r->steps;
  if (p->time.step != STEP_BLOCK) r->nbody->steps.dlna = 0.0;
  if (r->mesh_cells != 0 && r->mesh_cells != nbody_mesh_cells(r->nbody))
    nbody_change_mesh(r->nbody, r->mesh_cells);
  return r;
}

static struct moment_text moment_of_box(const struct parameters *p, double a) {
  (void)p;
  return cosmology_moment(false, a);
}

static struct moment_text moment_of_isolated(const struct parameters *p, double a) {
  (void)p;
  return cosmology_moment(true, a);
}

/** What solvers of particles have in common. */
#define OF_PARTICLES                                                                        \
  .require_possible = require_possible, .dry = dry, .create = create, .describe = describe, \
  .begin = begin, .stuck = stuck, .step = step, .write = write_output, .next = next,        \
  .frame = frame, .checkpoint = checkpoint, .end = end

const struct solver solver_of_box = {.log = &log_of_box, .moment = moment_of_box, OF_PARTICLES};
const struct solver solver_of_isolated = {
    .log = &log_of_isolated, .moment = moment_of_isolated, OF_PARTICLES};
