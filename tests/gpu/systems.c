/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole systems of particles, on cores and on GPUs. */
#include "tests/gpu/systems.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/energy.h"
#include "photons/base/error.h"
#include "photons/cosmology/linear_power.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "photons/step/block_step.h"
#include "photons/step/statistics.h"
#include "photons/step/step.h"
#include "support/force_set.h"
#include "tests/gpu/bench.h"
#include "tests/gpu/checks.h"

/** Every fourth particle is of another type and five times as heavy. */
static void mix(struct particles *s) {
  particles_add_column(s, COLUMN_relative_mass);
  particles_add_column(s, COLUMN_type);
  for (size_t i = 0; i < s->count; i++) {
    const bool heavy = s->id[i] % 4 == 0;
    s->relative_mass[i] = heavy ? 2.5f : 0.5f;
    s->type[i] = heavy ? PARTICLE_HALO + 1 : PARTICLE_HALO;
  }
}

struct universe make_universe(const struct setting *setting) {
  struct universe u;
  parameters_from_text(&u.p, setting->text, setting->overrides, setting->count);
  if (u.p.ic.source == IC_GADGET) u.particles = ic_read_gadget(&u.p);
  u.c = cosmology_from(&u.p);
  if (u.p.ic.source == IC_GALAXY) u.particles = ic_isolated(&u.p);
  if (u.p.ic.source == IC_GENERATE) {
    struct linear_power *power = linear_power_create(&u.p);
    u.particles = ic_generate(&u.p, &u.c, power, NULL);
    linear_power_free(power);
  }
  if (setting->mixed) mix(&u.particles);
  if (u.p.gravity.softening < 0.0)
    u.p.gravity.softening = 1e3 * u.p.box.size / cbrt((double)u.particles.count) / 30.0;
  return u;
}

/** What a system's forces are, and for isolated systems its energies, and the forces after a base
 * step of block time steps. */
struct outcome {
  size_t count;
  float *forces, *later; /* by id */
  double kinetic, potential, tolerance;
};

static void outcome_free(struct outcome *o) {
  free(o->forces);
  free(o->later);
}

static float *forces_now(struct nbody *s) {
  domain_acquire(&s->domain);
  float *a = accelerations_by_id(&s->domain.particles);
  domain_release(&s->domain);
  return a;
}

static void check_stages(struct nbody *s) {
  domain_acquire(&s->domain);
  struct bench b = bench_create(s);
  puts("rms difference of CUDA from CPU, relative:");
  check_tree(&b);
  check_block(&b);
  if (b.mesh) check_mesh(&b);
  bench_free(&b);
  domain_release(&s->domain);
}

static void take_base_step(struct nbody *s, const struct universe *u) {
  const double begin = 0.0, end = cosmology_time(u->p.time.max_step);
  struct base_step step = block_open(s, &u->p, &u->c, begin, end);
  while (block_advance(s, &step)) {}
  step_rebuild(s);
  block_close(s, &step, NULL, NULL);
}

static struct outcome outcome_with(const struct setting *setting, bool gpu, bool stages) {
  struct universe u = make_universe(setting);
  struct outcome o = {.count = u.particles.count, .tolerance = u.p.gravity.mac_tolerance};
  /* Groups would be larger with GPUs, hence the errors of expansions others. */
  if (u.p.runtime.group_size == 0) u.p.runtime.group_size = 8192;
  start_engine(&u.p, gpu);
  struct nbody *s = nbody_create(&u.p, u.particles);
  step_first_forces(s);
  o.forces = forces_now(s);
  if (stages) check_stages(s);
  if (!nbody_has_mesh(s)) {
    o.kinetic = statistics_measure(s, 1.0).kinetic;
    o.potential = potential_energy(s, 1.0);
    take_base_step(s, &u);
    o.later = forces_now(s);
  }
  nbody_free(s);
  engine_stop();
  return o;
}

static void report_forces(const char *name, const float *cpu, const float *gpu, size_t count,
                          double limit) {
  struct difference d = {name, 0, 0, 0};
  compare(&d, cpu, gpu, 3 * count);
  report(&d, limit);
}

/** The relative differences that half of the particles and 99 of 100 do not exceed. */
static void report_most_forces(const char *name, const float *cpu, const float *gpu, size_t count,
                               double median, double most) {
  double *reference = allocate(3 * count, sizeof *reference, "accelerations");
  for (size_t i = 0; i < 3 * count; i++) reference[i] = (double)cpu[i];
  const struct force_error e = force_compare(gpu, reference, count);
  const bool good = e.median <= median && e.p99 <= most;
  printf("  %-10s %9.2e median, %9.2e 99 %%  %s\n", name, e.median, e.p99,
         good ? "ok" : "TOO LARGE");
  failures += !good;
  free(reference);
}

/** An isolated system. GPUs sort particles by fewer bits, so that trees may differ, and with them
 * which pairs of nodes use expansions: forces differ by the errors of these, of which half are below a tenth of the
 * tolerance and 99 % below five times the tolerance, and potential energies by a sum of errors of both signs. In a base
 * step a particle at the limit between two rungs may get another one, which changes its path by the error of a step. */
static void check_isolated_outcome(const struct outcome *cpu, const struct outcome *gpu,
                                   double tolerance) {
  const double most = 5.0 * tolerance;
  if (tolerance <= 1e-5) report_forces("forces", cpu->forces, gpu->forces, cpu->count, 1e-5);
  report_most_forces("forces", cpu->forces, gpu->forces, cpu->count, 0.1 * tolerance, most);
  const double kinetic = gpu->kinetic / cpu->kinetic - 1.0,
               potential = gpu->potential / cpu->potential - 1.0;
  const bool good = fabs(kinetic) < 1e-6 && fabs(potential) < 0.005 * tolerance;
  printf("  energies differ by %.1e (kinetic) and %.1e (potential)  %s\n", kinetic, potential,
         good ? "ok" : "TOO LARGE");
  failures += !good;
  report_most_forces("later", cpu->later, gpu->later, cpu->count, most, most);
}

void check_system(const struct setting *setting) {
  struct outcome cpu = outcome_with(setting, false, true), gpu = outcome_with(setting, true, false),
                 again = outcome_with(setting, true, false);
  if (cpu.later)
    check_isolated_outcome(&cpu, &gpu, cpu.tolerance);
  else
    report_forces("forces", cpu.forces, gpu.forces, cpu.count, 1e-5);
  const bool same = memcmp(gpu.forces, again.forces, 3 * gpu.count * sizeof *gpu.forces) == 0 &&
                    gpu.kinetic == again.kinetic && gpu.potential == again.potential;
  printf("  forces and energies of two runs with GPUs are %s\n",
         same ? "the same bits" : "DIFFERENT");
  failures += !same;
  outcome_free(&cpu);
  outcome_free(&gpu);
  outcome_free(&again);
}

/* Whole forces on the sets with Ewald sums as reference. */

static const char *const set_files[] = {"early.hdf5", "late.hdf5"};
static const char *const presets[] = {"gravity.accuracy=default", "gravity.accuracy=high",
                                      "gravity.accuracy=paper"};
enum { SETS = sizeof set_files / sizeof *set_files, PRESETS = sizeof presets / sizeof *presets };

static void solve_sets(const struct force_set *set, bool gpu, float *acceleration[SETS][PRESETS]) {
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 1\nnpart_side = 2\n", NULL, 0);
  start_engine(&p, gpu);
  for (int i = 0; i < SETS; i++)
    for (int k = 0; k < PRESETS; k++)
      acceleration[i][k] = force_set_solve(&set[i], &presets[k], 1, NULL);
  engine_stop();
}

void check_sets(void) {
  static const struct {
    double early, late_median, late_p99;
  } bars[PRESETS] = {{1e-3, 3e-4, 3e-3}, {1e-4, 5e-5, 5e-4}, {5.5e-2, 2.4e-3, 1.5e-2}};
  struct force_set set[SETS];
  for (int i = 0; i < SETS; i++) set[i] = force_set_open(force_set_path(set_files[i]));
  float *cpu[SETS][PRESETS], *gpu[SETS][PRESETS];
  solve_sets(set, false, cpu);
  solve_sets(set, true, gpu);
  puts("whole forces: rms difference from the CPU's; errors against Ewald: rms, median, 99 %:");
  for (int i = 0; i < SETS; i++)
    for (int k = 0; k < PRESETS; k++) {
      struct difference d = {"", 0, 0, 0};
      compare(&d, cpu[i][k], gpu[i][k], 3 * set[i].count);
      const struct force_error e = force_compare(gpu[i][k], set[i].reference, set[i].count);
      const double difference = sqrt(d.difference2 / d.reference2);
      const bool good = difference <= 1e-5 &&
                        (i == 0 ? e.rms <= bars[k].early
                                : e.median <= bars[k].late_median && e.p99 <= bars[k].late_p99);
      printf("  %-20s %-25s %.1e  %.2e %.2e %.2e  %s\n", set_files[i], presets[k], difference,
             e.rms, e.median, e.p99, good ? "ok" : "TOO LARGE");
      failures += !good;
      free(cpu[i][k]);
      free(gpu[i][k]);
    }
  for (int i = 0; i < SETS; i++) force_set_close(&set[i]);
}

/* Isolated systems: a sphere with expansions of several orders, both softenings, and a galaxy. */

void check_isolated(void) {
  static const char *const cases[] = {
      SPHERE "order = 2\nsoftening_kernel = plummer\n",
      SPHERE "order = 4\nsoftening_kernel = plummer\n",
      SPHERE "order = 4\nsoftening_kernel = spline\n",
      SPHERE "order = 6\nsoftening_kernel = plummer\nmac_tolerance = 1e-5\n", GALAXY};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    printf("isolated system:\n%s", strstr(cases[i], "[galaxy]"));
    check_system(&(struct setting){.text = cases[i]});
  }
}

void check_mixed(size_t only) {
  static const char *const cases[] = {
      PLUMMER("8192") "softening_kernel = plummer\nmac_tolerance = 1e-5\n",
      PLUMMER("8192") "softening_kernel = plummer\nsoftening_type_2 = 0.3\n",
      PLUMMER("8192") "softening_kernel = spline\nsoftening_type_2 = 0.3\n",
      UNIVERSE "[gravity]\nsoftening = 40\nsoftening_kernel = plummer\n",
      UNIVERSE "[gravity]\nsoftening = 40\nsoftening_type_2 = 90\n"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (only > 0 && i + 1 != only) continue;
    printf("particles of different masses:\n%s", strstr(cases[i], "[gravity]"));
    check_system(&(struct setting){.text = cases[i], .mixed = true});
  }
}
