/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How an N-body run begins: from initial conditions or a checkpoint; and what a dry run looks at. */
#include <stdio.h>
#include <stdlib.h>

#include "nbody_run_parts.h"
#include "photons/analysis/statistics.h"
#include "photons/app/cone.h"
#include "photons/app/light_particles.h"
#include "photons/app/memory.h"
#include "photons/app/softening.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/species.h"
#include "photons/ic/ic.h"
#include "photons/io/snapshot.h"
#include "photons/runtime/scheduler.h"
#include "photons/step/light_cone.h"

/** Leave out potential energies where there are no pairs, and say what halos of several masses are made of.
 * Collective. */
static void settle_products(struct parameters *p, const struct particles *s) {
  if (p->time.step == STEP_PM && p->output.energy_steps > 0) {
    if (parameter_given(p, "output", "energy_steps") && comm_rank() == 0)
      warn("output.energy_steps: there are no energies with time.step = pm");
    p->output.energy_steps = 0;
  }
  if (!halos_are_light(p, s)) return;
  p->analysis.fof = halos_possible(s);
  halos_require_light(p);
  if (p->analysis.fof && comm_rank() == 0)
    warn("particles have different masses: halos and their spheres are made of those of at most "
         "twice the least mass, and there is no mass function");
}

static bool spectrum_wanted(const struct parameters *p) {
  if (isolated(p)) return false;
  return p->ic.source == IC_GENERATE || p->ic.power_spectrum_file[0] || p->output.power_spectrum ||
         p->analysis.fof || statistics_wanted(p);
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

/** Settle that snapshots can be written, softening lengths, how much memory the run may use, and how fine
 * its mesh may become.
 * @param a     where the run began
 * @param next  cells a side of a checkpoint's next mesh, which the run takes however fine it is; else 0 */
static void settle(struct parameters *p, const struct particles *s, double a, int64_t next) {
  const struct softening_types types = softening_resolve(p, s);
  snapshot_require_possible(p, s->all);
  memory_settle(p, s, isolated(p) ? 0.0 : softening_finest_mesh(p, &types, a));
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
    r->old = state;
    r->galaxies = state.galaxies;
    r->species = species_create(p);
    *now = progress_of(&state);
  } else {
    if (p->ic.source == IC_GADGET && !isolated(p)) particles = ic_read_gadget(p);
    r->cosmology = cosmology_from(p);
    r->species = species_create(p);
    if (p->ic.source == IC_GENERATE)
      particles = ic_generate(p, &r->cosmology, r->linear, r->species);
    if (isolated(p)) particles = ic_isolated_with(p, &r->summary);
    r->galaxies = r->summary.ids;
    *now = (struct progress){.a = start_of(p), .start_a = start_of(p), .last_output = NO_OUTPUT};
  }
  r->cosmology = cosmology_from(p);
  p->box.size = particles.box;
  settle(p, &particles, now->start_a, r->next_mesh_cells);
  r->masses = type_masses_of(&particles);
  cone_require(p, &particles, &r->masses, now->start_a);
  settle_products(p, &particles);
  type_masses_require_holes(p, &r->masses);
  return particles;
}

void *nbody_run_create(struct parameters *p, const char *checkpoint_path, struct progress *now,
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
  memory_require(p, &particles);
  timeline_init(timeline, p, now->start_a, now->a, now->last_output);
  struct light_cone *cone = cone_create(p, &r->cosmology, &particles, &r->masses);
  r->nbody = nbody_create(p, particles);
  r->nbody->steps = r->steps;
  if (p->time.step != STEP_BLOCK) r->nbody->steps.dlna = 0.0;
  r->nbody->cone = cone;
  cone_restore(r->nbody, &r->old);
  if (r->mesh_cells != 0 && r->mesh_cells != nbody_mesh_cells(r->nbody))
    nbody_change_mesh(r->nbody, r->mesh_cells);
  return r;
}

/** Particles that the initial conditions of the parameters have, if they are generated; else 0. */
static size_t generated_count(const struct parameters *p) {
  if (p->ic.source != IC_GENERATE) return 0;
  return (size_t)(p->box.npart_side * p->box.npart_side * p->box.npart_side);
}

/** Of generated particles, whose softening must go with the mesh, too. */
void nbody_run_require_possible(const struct parameters *p, bool begins) {
  (void)begins;
  const struct particles generated = {.all = generated_count(p)};
  if (generated.all == 0) return;
  struct parameters resolved = *p;
  const struct softening_types types = softening_resolve(&resolved, &generated);
  softening_require(&resolved, &types, start_of(p), layout_choose(p, generated.all).mesh.cells);
  memory_require(p, &generated);
}

static void print_dry(const struct story *s) {
  memory_require(s->parameters, s->particles);
  printf("# what a run would use\n");
  nbody_run_print(stdout, s);
  printf("\n# its parameters\n");
  parameters_print(s->parameters, stdout);
}

void nbody_run_dry(struct parameters *p, const char *checkpoint, struct progress *now,
                   struct timeline *timeline) {
  const long cores = comm_size() * scheduler_check(p);
  if (comm_rank() == 0) output_folder_check(p->output.dir);
  struct isolated_summary summary = {0};
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
    free(state.map);
  } else {
    if (isolated(p))
      particles = ic_isolated_with(p, &summary);
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
  const struct type_masses masses = type_masses_of(&particles);
  cone_require(p, &particles, &masses, now->start_a);
  settle_products(p, &particles);
  if (particles.count > 0) type_masses_require_holes(p, &masses);
  print_dry(&(const struct story){p, &particles, &masses, linear, timeline, &summary, cores});
  particles_free(&particles);
  linear_power_free(linear);
}
