/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of an N-body run, and its solver. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nbody_run_parts.h"
#include "photons/analysis/energy.h"
#include "photons/app/cone.h"
#include "photons/app/softening.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/species.h"
#include "photons/domain/balance.h"
#include "photons/step/block_step.h"
#include "photons/step/light_cone.h"
#include "photons/step/mesh_alone.h"
#include "photons/step/statistics.h"
#include "photons/step/step.h"

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

/** What makes a conserved energy of the kinetic one: where a bar turns this is Jacobi's integral. */
static double conserved_potential(const struct statistics *s) {
  if (!isnan(s->jacobi)) return s->jacobi - s->kinetic;
  return isnan(s->external) ? s->potential : s->potential + s->external;
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
  s->layzer_irvine = layzer_irvine_integral(&r->energy, conserved_potential(s),
                                            &s->layzer_irvine_error);
}

/** Galaxies are measured at the steps at which energies are. */
static void measure_galaxies(struct nbody_run *r, struct step_record *record) {
  record->galaxies = NULL;
  if (!isolated(r->parameters) || isnan(record->statistics.potential)) return;
  domain_acquire(&r->nbody->domain);
  galaxies_measure(&r->nbody->domain.particles, &r->galaxies, r->measured);
  domain_release(&r->nbody->domain);
  record->galaxies = r->measured;
  record->galaxy_count = r->galaxies.count;
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
  const struct domain *d = &r->nbody->domain;
  record->owners = (struct owner_seconds){d->group_seconds, (uint32_t)d->particles.first_block,
                                          (uint32_t)d->particles.blocks};
  const double forces = (double)record->work.pairs / fmax((double)last.pairs, 1.0);
  r->next_mesh_cells = mesh_policy_choose(r->parameters, &r->cosmology, a, record->particles,
                                          nbody_mesh_cells(r->nbody), (double)record->work.pairs);
  sort_policy_account(&r->policy, &r->nbody->domain, &last, forces);
  measure_energy(r, cosmology_scale(&r->cosmology, a), record->step, &record->statistics);
  measure_galaxies(r, record);
}

static void describe(void *state, FILE *out) {
  const struct nbody_run *r = state;
  const struct particles *s = &r->nbody->domain.particles;
  nbody_run_print(out, &(const struct story){r->parameters, s, &r->masses, r->linear, r->timeline,
                                             &r->summary,
                                             comm_size() * (long)starpu_cpu_worker_get_count()});
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
  if (isolated(r->parameters)) return; /* there is no mesh */
  const size_t particles = r->nbody->domain.particles.all;
  const double cut = mesh_alone_cut(r->parameters, r->linear, &r->cosmology, particles, a);
  const bool cut_anew = long_range_cut(&r->nbody->long_range, cut);
  if (!r->species && !cut_anew) return;
  struct response *response = r->species ? response_create(r->species, a) : NULL;
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
  if (r->parameters->time.step == STEP_PM) /* begins with a drift */
    step_begin_drift(r->nbody);
  else
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
  if (p->time.step == STEP_BLOCK && p->time.criterion == CRITERION_PAIRS) return NULL;
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

/** A step kick-drift-kick of all particles. */
static void global_step(struct nbody_run *r, double a0, double a1, struct sort_choice *choice,
                        void (*meanwhile)(void *)) {
  const struct cosmology *c = &r->cosmology;
  const double middle = moment_middle(c->isolated, a0, a1);
  step_drift(r->nbody, cosmology_kick(c, a0, middle), cosmology_drift(c, a0, a1));
  reorder(r, choice);
  apply_softening(r, a1);
  step_forces(r->nbody, cosmology_kick(c, middle, a1), meanwhile, r);
}

static struct growth_step plain_step(const struct cosmology *c, double a0, double a1) {
  const double middle = sqrt(a0 * a1);
  return (struct growth_step){.middle = middle,
                              .open = cosmology_drift(c, a0, middle),
                              .push = cosmology_kick(c, a0, a1),
                              .close = cosmology_drift(c, middle, a1)};
}

/** A step drift-kick-drift of the mesh alone.
 * @param due  outputs follow, and have trees with boxes; else the next step begins with a drift */
static void mesh_step(struct nbody_run *r, double a0, double a1, struct sort_choice *choice,
                      bool due) {
  const bool growth = r->parameters->time.kicks == KICKS_GROWTH;
  const struct growth_step s = growth ? cosmology_growth_step(&r->cosmology, a0, a1)
                                      : plain_step(&r->cosmology, a0, a1);
  step_move(r->nbody, a0, s.middle, s.open, true);
  reorder(r, choice);
  respond(r, s.middle);
  step_kick(r->nbody, (struct kick){.push = (float)s.push, .loss = (float)s.loss});
  step_move(r->nbody, s.middle, a1, s.close, due);
}

static void step(void *state, struct progress *now, bool (*output_due)(void *context, double a),
                 void *context, struct step_record *record) {
  struct nbody_run *r = state;
  const struct parameters *p = r->parameters;
  const double a0 = now->a;
  release_escapers(r);
  const bool refined = refine_mesh(r, a0);
  const double a1 = next(r, now);
  r->nbody->step = now->step + 1;
  r->nbody->a = a1;
  balance(r, now->step);
  if (p->time.step != STEP_PM) respond(r, a1);
  struct sort_choice choice = renews_within(p) ? (struct sort_choice){false, false}
                                               : sort_policy_choose(&r->policy, p,
                                                                    r->nbody->domain.particles.all);
  const bool due = output_due(context, a1);
  /* Halos search trees, which no pairs have kept in order. */
  const bool loose = due && p->time.step == STEP_PM;
  if ((refined || loose) && !choice.rebuild) choice.sort = true;
  /* An output in the memory of the mesh, or of positions that drift once more, comes after the forces,
   * and halos of light particles need copies of all their columns. */
  const bool beside = !nbody_rests(r->nbody) && p->time.step != STEP_PM &&
                      !halos_are_light(p, &r->nbody->domain.particles);
  void (*meanwhile)(void *) = due && beside ? nbody_run_write_positions : NULL;
  now->a = a1;
  r->output_progress = *now;
  light_cone_begin(r->nbody, a0, a1);
  if (p->time.step == STEP_BLOCK) {
    block_step(r, a0, a1, &choice, meanwhile, record);
  } else if (p->time.step == STEP_PM) {
    mesh_step(r, a0, a1, &choice, due);
  } else {
    global_step(r, a0, a1, &choice, meanwhile);
  }
  record->rebuilt = choice.rebuild + record->block.rebuilds;
  record->sorted = choice.sort + record->block.sorts;
  record->escapers = &r->escapers;
  fill_record(r, a1, record);
  nbody_run_write_cone(r, timeline_ended(r->timeline, a1), record);
}

static void end(void *state) {
  struct nbody_run *r = state;
  nbody_run_settle(r);
  escapers_free(&r->escapers);
  light_cone_free(r->nbody->cone);
  nbody_free(r->nbody);
  linear_power_free(r->linear);
  species_free(r->species);
  tree_past_free(&r->trees);
  free(r);
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
#define OF_PARTICLES                                                                              \
  .require_possible = nbody_run_require_possible, .dry = nbody_run_dry,                           \
  .create = nbody_run_create, .describe = describe, .begin = begin, .stuck = stuck, .step = step, \
  .write = nbody_run_write, .settle = nbody_run_settle, .next = next, .frame = nbody_run_frame,   \
  .checkpoint = nbody_run_checkpoint, .end = end

const struct solver solver_of_box = {.log = &log_of_box, .moment = moment_of_box, OF_PARTICLES};
const struct solver solver_of_isolated = {
    .log = &log_of_isolated, .moment = moment_of_isolated, OF_PARTICLES};
