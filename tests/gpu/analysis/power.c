/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power spectra: CUDA against CPU. Deposits have the same bits, and so have modes that cores transform; those
 * that GPUs transform differ by rounding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/force_set.h" /* before fof_shares.h, whose `share` is a type */

#include "photons/analysis/analysis.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/engine.h"
#include "src/analysis/density_modes.h"
#include "support/fof_shares.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"

enum shape { UNIFORM, CLUSTERED, POINT };
static const char *const shapes[] = {"uniform", "clustered", "a point"};

/** Particles in ORB groups, and meshes. In one point are more than an integer of the least unit holds. */
static const struct power_case {
  enum shape shape;
  size_t particles;
  uint32_t groups;
  unsigned depth;
  size_t mesh;
  unsigned folds;
  bool masses;
} cases[] = {{UNIFORM, 20011, 4, 7, 32, 0, false}, {CLUSTERED, 20011, 8, 6, 34, 2, false},
             {CLUSTERED, 3001, 1, 5, 33, 1, true}, {POINT, 9000, 2, 7, 32, 2, false},
             {UNIFORM, 1, 1, 0, 16, 0, false},     {CLUSTERED, 5000, 2, 6, 8, 0, true},
             {UNIFORM, 3, 2, 0, 31, 1, false}};
enum { CASES = sizeof cases / sizeof *cases };

/** What is measured of a case. */
struct found {
  struct power_bin *bins;
  size_t count;
  double *modes; /* in redshift space */
  size_t bytes;
};

static void add_masses(struct particles *s) {
  double sum = 0.0;
  particles_add_column(s, COLUMN_relative_mass);
  for (size_t i = 0; i < s->count; i++) sum += 1.0 + (double)(i % 7);
  for (size_t i = 0; i < s->count; i++)
    s->relative_mass[i] = (float)((1.0 + (double)(i % 7)) * (double)s->count / sum);
}

static struct particles particles_of(const struct power_case *k) {
  struct particles s = make_particles(k->particles, k->shape == CLUSTERED, 2);
  for (size_t i = 0; k->shape == POINT && i < 3 * s.count; i++) s.position[i] = 0;
  sort_particles(&s, k->groups, k->depth);
  for (size_t i = 0; i < 3 * s.count; i++) s.momentum[i] = 100.0f * sinf((float)i);
  if (k->masses) add_masses(&s);
  return s;
}

static struct found measure(const struct power_case *k) {
  struct particles s = particles_of(k);
  struct found f = {NULL};
  f.bins = power_measure(&s, k->mesh, k->folds, &f.count);
  struct density_modes modes = density_modes_create(&s, k->mesh, 1e-4);
  f.bytes = fft_bytes(&modes.fft);
  f.modes = allocate(f.bytes, 1, "modes");
  memcpy(f.modes, modes.memory, f.bytes);
  density_modes_free(&modes);
  particles_free(&s);
  return f;
}

static uint64_t measure_all(bool gpu, struct found f[CASES]) {
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 100\nnpart_side = 2\n", NULL, 0);
  start_engine(&p, gpu);
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  for (size_t i = 0; i < CASES; i++) f[i] = measure(&cases[i]);
  const uint64_t tasks = gpu_tasks();
  engine_stop();
  return tasks;
}

static void compare_case(const struct power_case *k, struct found *cpu, struct found *gpu) {
  double largest = 0.0;
  bool same = cpu->count == gpu->count;
  for (size_t i = 0; same && i < cpu->count; i++) {
    same = cpu->bins[i].k == gpu->bins[i].k && cpu->bins[i].modes == gpu->bins[i].modes;
    largest = fmax(largest, fabs(gpu->bins[i].power / cpu->bins[i].power - 1.0));
  }
  const bool bits = memcmp(cpu->modes, gpu->modes, cpu->bytes) == 0;
  printf(
      "  %-9s %5zu particles, mesh %zu, %u folds%s: %s, P differs by %.1e, %s of redshift space\n",
      shapes[k->shape], k->particles, k->mesh, k->folds, k->masses ? ", masses" : "",
      same ? "the same bins" : "DIFFERENT bins", largest,
      bits ? "the same modes" : "DIFFERENT modes");
  failures += !same || !(largest < 1e-5) || !bits;
  free(cpu->bins);
  free(gpu->bins);
  free(cpu->modes);
  free(gpu->modes);
}

void check_power(void) {
  struct found cpu[CASES], gpu[CASES];
  measure_all(false, cpu);
  const uint64_t tasks = measure_all(true, gpu);
  printf("power spectra: CPU, and %llu tasks of GPUs:\n", (unsigned long long)tasks);
  for (size_t i = 0; i < CASES; i++) compare_case(&cases[i], &cpu[i], &gpu[i]);
  report_whether("tasks of GPUs", tasks > 0);
}
