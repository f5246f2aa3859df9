/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an N-body run writes. */
#include <stdlib.h>

#include "nbody_run_parts.h"
#include "photons/analysis/energy.h"
#include "photons/app/cone.h"
#include "photons/app/light_particles.h"
#include "photons/app/output_log.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/io/snapshot.h"

/** The side of the lattice that the ids number; 0: unknown. */
static size_t lattice_side(const struct parameters *p) {
  return p->ic.source == IC_GENERATE && !p->ic.glass[0] ? (size_t)p->box.npart_side : 0;
}

/** What the next output consists of. Spectra of all outputs have the bins of the first mesh. */
static struct products products_of(struct nbody_run *r, double a, size_t number) {
  return (struct products){
      .parameters = r->parameters,
      .cosmology = &r->cosmology,
      .linear = r->linear,
      .species = r->species,
      .particles = &r->nbody->domain.particles,
      .depth = r->nbody->domain.depth,
      .lattice = lattice_side(r->parameters),
      .regular = r->parameters->ic.source == IC_GENERATE,
      .a = a,
      .number = number,
      .mesh = layout_choose(r->parameters, r->nbody->domain.particles.all).mesh.cells,
      .trees = &r->trees,
      .last = timeline_outputs_until(r->timeline, a) == r->timeline->outputs,
      .snapshot = true};
}

void nbody_run_write_positions(void *context) {
  struct nbody_run *r = context;
  nbody_run_settle(r);
  const double start = wall_clock();
  r->products = products_of(r, r->output_progress.a, (size_t)r->output_progress.outputs_done);
  domain_acquire_positions(&r->nbody->domain);
  products_write_positions(&r->products);
  domain_release_positions(&r->nbody->domain);
  r->beside_seconds = wall_clock() - start;
  r->begun = true;
}

/** The potential of all particles, for a snapshot that has it; else NULL. */
static float *snapshot_potential(struct nbody_run *r) {
  const struct parameters *p = r->parameters;
  if (!p->output.potential || !p->output.snapshots) return NULL;
  float *potential = allocate(r->nbody->domain.particles.count, sizeof *potential, "potentials");
  potential_of_particles(r->nbody, potential);
  return potential;
}

/** Write the rest of an output at once, or begin to write it beside the next steps. At the end there are none. */
static void write_rest(struct nbody_run *r, struct particles *light, float *potential) {
  const struct cosmology *c = &r->cosmology;
  const double a = r->products.a;
  if (output_beside_wanted(r->parameters) && !timeline_ended(r->timeline, a)) {
    output_beside_begin(&r->beside, &r->products, light, potential,
                        cosmology_moment(c->isolated, a).text);
    return;
  }
  products_write_rest(&r->products);
  output_log_add(&r->products);
  particles_free(light);
  free(potential);
}

void nbody_run_settle(void *state) {
  struct nbody_run *r = state;
  output_beside_end(&r->beside);
  cone_settle(&r->cone);
}

void nbody_run_write_cone(struct nbody_run *r, bool ended, struct step_record *record) {
  if (!r->nbody->cone) return;
  output_beside_end_if_written(&r->beside);
  cone_write(&r->cone, r->nbody, r->parameters, r->nbody->step, ended);
  record->cone_files = r->cone.written;
  record->cone_waited = r->cone.waited;
  record->cone_count = r->cone.files;
  record->cone_beside = r->cone.beside;
  r->cone.written = r->cone.waited = 0.0;
  r->cone.files = r->cone.beside = 0;
}

double nbody_run_write(void *state, const struct progress *now, size_t number) {
  struct nbody_run *r = state;
  nbody_run_settle(r);
  const double beside = r->begun ? r->beside_seconds : 0.0;
  float *potential = snapshot_potential(r);
  domain_acquire(&r->nbody->domain);
  r->nbody->domain.particles.potential = potential;
  struct particles light = {0};
  if (!r->begun) {
    r->products = products_of(r, now->a, number);
    if (halos_are_light(r->parameters, r->products.particles))
      products_take_light(&r->products, &light);
    products_write_positions(&r->products);
  }
  write_rest(r, &light, potential);
  r->nbody->domain.particles.potential = NULL;
  domain_release(&r->nbody->domain);
  r->begun = false;
  return beside;
}

void nbody_run_frame(void *state, const struct progress *now, const char *path) {
  struct nbody_run *r = state;
  const bool masses = particles_have(&r->nbody->domain.particles, COLUMN_relative_mass);
  (masses ? domain_acquire : domain_acquire_positions)(&r->nbody->domain);
  const struct products products = products_of(r, now->a, 0);
  products_draw_frame(&products, path);
  (masses ? domain_release : domain_release_positions)(&r->nbody->domain);
}

void nbody_run_checkpoint(void *state, const char *path, const struct progress *now) {
  struct nbody_run *r = state;
  nbody_run_settle(r);
  struct checkpoint_state c = {.a = now->a,
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
                               .galaxies = r->galaxies,
                               .wall_seconds = now->wall_seconds};
  cone_save(r->nbody, &c);
  domain_acquire(&r->nbody->domain);
  checkpoint_write(path, r->parameters, &r->nbody->domain.particles, &c);
  domain_release(&r->nbody->domain);
}
