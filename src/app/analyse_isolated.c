/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --analyse of an isolated system: forces and energies by the stages of a run, and the radii of its
 * components. */
#include "analyse_isolated.h"

#include <stdio.h>

#include "photons/analysis/energy.h"
#include "photons/analysis/system.h"
#include "photons/app/softening.h"
#include "photons/app/step_files.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/folder_lock.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/message.h"
#include "photons/step/step.h"

/* Of the side of the frame, which is at least 16 times the largest coordinate: shorter than all
 * distances that matter, and longer than the rounding of positions. */
#define UNSOFTENED 0x1p-19
#define MPC_IN_KPC 1e3

struct file_name {
  char path[PARAMETER_PATH_MAX + 64];
};

static struct file_name name_of(const struct parameters *p, const char *stem, size_t number) {
  struct file_name n;
  snprintf(n.path, sizeof n.path, "%s/%s_%03zu.csv", p->output.dir, stem, number);
  return n;
}

static void write_part(FILE *file, const char *name, const struct system *s,
                       const struct system_part *part) {
  fprintf(file, "%s,%llu,%.9g,%.9g,%.9g,%.9g", name, (unsigned long long)part->count, part->mass,
          s->densest[0], s->densest[1], s->densest[2]);
  for (int c = 0; c < 3; c++) fprintf(file, ",%.9g", part->momentum[c]);
  for (int k = 0; k < SYSTEM_SHARES; k++) fprintf(file, ",%.9g", part->radius[k]);
  fprintf(file, "\n");
}

static void write_components(const char *path, const struct system *s) {
  struct output_text text;
  FILE *file = output_text_begin(&text);
  fprintf(file,
          "type,particles,mass,densest_x,densest_y,densest_z,momentum_x,momentum_y,momentum_z");
  for (int k = 0; k < SYSTEM_SHARES; k++) fprintf(file, ",r%d", system_percent[k]);
  fprintf(file, "\n");
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    char name[16];
    snprintf(name, sizeof name, "%d", t);
    if (s->type[t].count > 0) write_part(file, name, s, &s->type[t]);
  }
  write_part(file, "all", s, &s->all);
  output_text_save(&text, path);
}

/** The energies at the snapshot's time, by forces and potentials as a run computes them. */
static struct step_record measure_energies(struct nbody *n, double time_myr) {
  struct step_record record = {.a = cosmology_time(time_myr)};
  step_first_forces(n);
  record.statistics = statistics_measure(n, 1.0);
  statistics_measure_energy(n, &record.statistics);
  return record;
}

static struct system measure_components(struct nbody *n) {
  domain_acquire(&n->domain);
  const struct system system = system_measure(&n->domain.particles);
  domain_release(&n->domain);
  return system;
}

static void say_results(const struct step_record *record, const struct system *s) {
  const struct statistics *e = &record->statistics;
  say("energy      kinetic %.6g, potential %.6g, total %.6g of 1e10 Msun (km/s)^2\n", e->kinetic,
      e->potential, e->kinetic + e->potential);
  say("radii       half of the mass within %.5g kpc, 90 %% within %.5g kpc of the densest point, "
      "(%.5g, %.5g, %.5g) kpc\n",
      s->all.radius[2], s->all.radius[4], s->densest[0], s->densest[1], s->densest[2]);
}

/** Measure and write. The particles belong to the system that is made of them. */
static void measure(const struct parameters *p, struct particles particles, double time_myr,
                    size_t number) {
  struct nbody *n = nbody_create(p, particles);
  const struct step_record record = measure_energies(n, time_myr);
  const struct system system = measure_components(n);
  nbody_free(n);
  say_results(&record, &system);
  if (comm_rank() != 0) return;
  step_files_write_energy(name_of(p, "energy", number).path, &record);
  write_components(name_of(p, "components", number).path, &system);
}

static void print_snapshot(const struct parameters *p, const struct particles *s, double time_myr,
                           bool softened) {
  say("%s: %zu particles of %.4g Msun%s, an isolated system at t = %.6g Myr\n", p->ic.file, s->all,
      1e10 * s->mass, particles_have(s, COLUMN_relative_mass) ? " on average" : "", time_myr);
  if (softened)
    say("softening   %g kpc\n", softening_of_type(p, PARTICLE_HALO));
  else
    say("softening   not in the file: the potential energy is that of point masses "
        "(--set gravity.softening=... [kpc])\n");
}

void analyse_isolated(struct parameters *p, bool softened, size_t number, bool dry_run) {
  const int lock = dry_run ? -1 : folder_lock(p->output.dir);
  p->runtime.gpu = GPU_NO;
  p->time.step = STEP_ADAPTIVE; /* no columns of block steps */
  engine_start(p, NULL);
  message_start(p);
  double time_myr, start = wall_clock();
  struct particles particles = ic_isolated_snapshot(p, &time_myr);
  p->box.size = particles.box;
  if (!softened) p->gravity.softening = UNSOFTENED * MPC_IN_KPC * particles.box;
  softening_resolve(p, &particles);
  print_snapshot(p, &particles, time_myr, softened);
  if (dry_run) {
    say("would write to %s: energies, momenta, and radii of components\n", p->output.dir);
    particles_free(&particles);
  } else {
    measure(p, particles, time_myr, number);
    say("analysed in %.2f s; results in %s\n", wall_clock() - start, p->output.dir);
  }
  message_stop();
  engine_stop();
  if (!dry_run) folder_unlock(lock);
}
