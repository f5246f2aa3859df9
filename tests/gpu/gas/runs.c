/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole runs of gas, on cores and on GPUs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"
#include "support/force_set.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/gas/gas.h"

enum { TEXT = 2000 };

const char *const gas_solver_names[SOLVERS] = {
    [GAS_RTVD] = "rtvd", [GAS_MUSCL] = "muscl", [GAS_PPM] = "ppm"};
const char *const gas_precision_names[PRECISIONS] = {
    [GAS_SINGLE] = "single", [GAS_DOUBLE] = "double"};
/* Of the root mean square of all values: docs/results/gas.md. */
static const double run_bar[PRECISIONS] = {1e-5, 1e-12};

struct result {
  int levels;
  uint32_t count[GAS_LEVELS_MAX];
  uint64_t *keys[GAS_LEVELS_MAX];
  char *cells[GAS_LEVELS_MAX], *potential[GAS_LEVELS_MAX]; /* potential: NULL without gravity */
  size_t real, bytes;                                      /* of a number, of a group */
  struct gas_totals begin, end;
  struct gas_physics physics;
  uint32_t most_at_begin;        /* groups of a level */
  bool all_at_begin, all_at_end; /* gas_tasks.together */
  uint64_t host_bytes;           /* that the host took over in regriddings after the start */
  size_t particles;
  struct gas_particle *particle; /* in the order of their numbers */
};

static int compare_particles(const void *a, const void *b) {
  const struct gas_particle *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/** The particles of all levels; the host has them. */
static void copy_particles(const struct gas_particles *s, struct result *r) {
  r->particles = s->count;
  r->particle = allocate(r->particles, sizeof *r->particle, "particles");
  for (size_t l = 0, n = 0; l < GAS_LEVELS_MAX; n += s->level[l++].count)
    for (size_t i = 0; i < s->level[l].count; i++) r->particle[n + i] = s->level[l].particle[i];
  qsort(r->particle, r->particles, sizeof *r->particle, compare_particles);
}

/** @param most  groups of a level that one task solves; 0: as it is in runs */
static struct result run_together(const struct parameters *p, bool gpu, int steps, uint32_t most) {
  const struct gas_ic ic = gas_ic_make(p);
  start_engine(p, gpu);
  struct gas *g = gas_create(p);
  if (most > 0) g->gravity->together_most = most;
  if (g->particles) gas_particles_begin(g, p);
  gas_begin(g, &ic);
  if (g->gravity) gravity_solve(g, 0, 1.0);
  struct result r = {.begin = gas_measure(g), .all_at_begin = g->tasks.together};
  for (int l = 0; l <= g->topology.finest; l++)
    r.most_at_begin = g->topology.level[l].count > r.most_at_begin ? g->topology.level[l].count
                                                                   : r.most_at_begin;
  r.end = r.begin;
  r.host_bytes = g->counts.host_bytes;
  for (int i = 0; i < steps; i++) {
    gas_step(g, 0.4 * r.end.longest_step);
    r.end = gas_measure(g);
  }
  r.host_bytes = g->counts.host_bytes - r.host_bytes;
  r.all_at_end = g->tasks.together;
  r.levels = topology_levels(&g->topology);
  r.real = g->scheme.kernels->real_size;
  r.bytes = gas_group_bytes(g);
  r.physics = g->scheme.physics;
  gas_acquire(g, STARPU_R);
  for (int l = 0; l < r.levels; l++) {
    const struct gas_tree_level *t = &g->topology.level[l];
    r.count[l] = t->count;
    r.keys[l] = memcpy(allocate(t->count, sizeof *t->key, "keys"), t->key,
                       t->count * sizeof *t->key);
    r.cells[l] = allocate(t->count, r.bytes, "cells");
    for (uint32_t i = 0; i < t->count; i++)
      memcpy(r.cells[l] + i * r.bytes, gas_cells(g, l, i), r.bytes);
    if (!g->gravity) continue;
    r.potential[l] = allocate(t->count, GAS_GROUP_CELLS * r.real, "potentials");
    for (uint32_t i = 0; i < t->count; i++)
      gravity_copy_potential(g, l, i, r.potential[l] + i * GAS_GROUP_CELLS * r.real);
  }
  if (g->particles) copy_particles(g->particles, &r);
  gas_release(g);
  gas_free(g);
  engine_stop();
  return r;
}

static struct result run(const struct parameters *p, bool gpu, int steps) {
  return run_together(p, gpu, steps, 0);
}

static void free_result(struct result *r) {
  free(r->particle);
  for (int l = 0; l < r->levels; l++) {
    free(r->keys[l]);
    free(r->cells[l]);
    free(r->potential[l]);
  }
}

/** Mass, energy and what the gas carries; the momentum is zero by symmetry, and is measured against the mass, as
 * carried variables are. */
static double lost(const struct result *r) {
  double most = 0.0;
  for (int v = GAS_DENSITY; v < GAS_VARIABLES_MAX; v++) {
    if (v == GAS_ENTROPY) continue;
    const double size = v == GAS_ENERGY ? r->begin.conserved[v] : r->begin.conserved[GAS_DENSITY];
    most = fmax(most, fabs(r->end.conserved[v] - r->begin.conserved[v]) / size);
  }
  return most;
}

static bool same_topology(const struct result *a, const struct result *b) {
  bool same = a->levels == b->levels;
  for (int l = 0; same && l < a->levels; l++)
    same = a->count[l] == b->count[l] &&
           memcmp(a->keys[l], b->keys[l], a->count[l] * sizeof *a->keys[l]) == 0;
  return same;
}

/** Variables of cells whose numbers are of one size. */
enum cell_kind { KIND_DENSITY, KIND_MOMENTUM, KIND_ENERGY, KIND_ENTROPY, KIND_SCALAR, CELL_KINDS };
static const char *const kinds[CELL_KINDS] = {"density", "momentum", "energy", "entropy",
                                              "scalars"};

static void compare_cells(struct difference d[CELL_KINDS], const struct result *cpu,
                          const struct result *gpu, int level) {
  static const enum cell_kind kind_of[GAS_SOLVED_MAX] = {
      KIND_DENSITY, KIND_MOMENTUM, KIND_MOMENTUM, KIND_MOMENTUM, KIND_ENERGY, KIND_ENTROPY};
  const size_t bytes = GAS_GROUP_CELLS * cpu->real;
  const unsigned variables = gas_variables(&cpu->physics);
  for (size_t i = 0; i < (size_t)cpu->count[level] * variables; i++) {
    const enum gas_variable number = gas_variable_at(&cpu->physics, (unsigned)(i % variables));
    compare_numbers(&d[number < GAS_SOLVED_MAX ? kind_of[number] : KIND_SCALAR], cpu->real,
                    cpu->cells[level] + i * bytes, gpu->cells[level] + i * bytes, bytes);
  }
}

static void report_particles(const struct result *cpu, const struct result *gpu, double bar) {
  struct difference place = {0}, velocity = {0};
  for (size_t i = 0; i < cpu->particles; i++) {
    const struct gas_particle *a = &cpu->particle[i], *b = &gpu->particle[i];
    compare_numbers(&place, sizeof(double), a->position, b->position, sizeof a->position);
    compare_numbers(&velocity, sizeof(double), a->velocity, b->velocity, sizeof a->velocity);
  }
  report_difference("places", place, bar);
  report_difference("velocities", velocity, bar);
}

void compare_gas_runs(const char *text, const char *name, int steps, double bar,
                      double entropy_bar) {
  struct parameters p;
  parameters_from_text(&p, text, NULL, 0);
  struct result cpu = run(&p, false, steps), gpu = run(&p, true, steps);
  struct difference cells[CELL_KINDS] = {{0}}, potentials = {0};
  printf("  %s: %d steps on %d levels\n", name, steps, gpu.levels);
  const bool same = same_topology(&cpu, &gpu);
  report_whether("refinement", same);
  if (p.gas.solver != GAS_NONE) /* the host makes empty cells */
    report_whether("no copies", gpu.host_bytes == 0);
  for (int l = 0; same && l < cpu.levels; l++) {
    compare_cells(cells, &cpu, &gpu, l);
    if (cpu.potential[l])
      compare_numbers(&potentials, cpu.real, cpu.potential[l], gpu.potential[l],
                      cpu.count[l] * GAS_GROUP_CELLS * cpu.real);
  }
  for (int kind = 0; kind < CELL_KINDS; kind++)
    if (cells[kind].reference2 > 0.0 || cells[kind].difference2 > 0.0)
      report_difference(kinds[kind], cells[kind], kind == KIND_ENTROPY ? entropy_bar : bar);
  if (cpu.particles > 0) report_particles(&cpu, &gpu, bar);
  if (cpu.potential[0])
    report_difference("potential", potentials, bar);
  else /* gravity changes momentum and energy */
    report_difference(
        "conserved", (struct difference){.difference2 = lost(&gpu) * lost(&gpu), .reference2 = 1.0},
        bar);
  free_result(&cpu);
  free_result(&gpu);
}

/** A blast in a periodic box on three levels that follow it, on cores and on GPUs. */
static void check_run(int solver, int precision, bool fused) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = 32, 32, 32\nlevels = 2\n"
      "regrid = 2\nbuffer = 4\nbatch = 12\nflag_gradient_pressure = 0.3\nsolver = %s\n"
      "precision = %s\nfused = %s\nscalars = %d\n[time]\nend = 1\n";
  char given[TEXT], name[TEXT];
  snprintf(given, sizeof given, text, gas_solver_names[solver], gas_precision_names[precision],
           fused ? "yes" : "no", solver == precision ? 2 : 0);
  snprintf(name, sizeof name, "%s, %s precision, fused = %s", gas_solver_names[solver],
           gas_precision_names[precision], fused ? "yes" : "no");
  compare_gas_runs(given, name, GAS_STEPS, run_bar[precision], run_bar[precision]);
}

#ifdef CUDA_ON_CORES
static bool same_bits(const struct result *a, const struct result *b) {
  bool same = same_topology(a, b);
  for (int l = 0; same && l < a->levels; l++)
    same = memcmp(a->cells[l], b->cells[l], a->count[l] * a->bytes) == 0 &&
           memcmp(a->potential[l], b->potential[l], a->count[l] * GAS_GROUP_CELLS * a->real) == 0;
  return same;
}

/** Each home begins to find the potentials of its own groups when a level has got more groups than any had at the start,
 * where one home has found all of them until then. */
static void check_divided_potentials(const char *text) {
  struct parameters p;
  parameters_from_text(&p, text, NULL, 0);
  struct result together = run(&p, true, GAS_STEPS),
                divided = run_together(&p, true, GAS_STEPS, together.most_at_begin);
  report_whether("one home finds all potentials", together.all_at_begin && together.all_at_end);
  report_whether("divided in the middle", divided.all_at_begin && !divided.all_at_end);
  report_whether("the same bits", same_bits(&together, &divided));
  free_result(&together);
  free_result(&divided);
}

extern unsigned long cores_launches(int gpu);

/** Runs on two GPUs, neither of which can read the other's memory: small batches, so that both have
 * some, groups that move between batches, and self-gravity. */
static void check_two_gpus(void) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = blast\n[gas]\nroot = 32, 32, 32\nlevels = 2\n"
      "regrid = 1\nbuffer = 4\nbatch = 4\nflag_gradient_pressure = 0.3\n%s\n[time]\nend = 1\n";
  static const char *const more[] = {"solver = rtvd", "fused = no\nprecision = double",
                                     "gravity = self\nnewton_constant = 0.1"};
  static const double bar[] = {1e-5, 1e-12, 1e-5};
  puts("runs of gas on two GPUs:");
  setenv("CORES_GPUS", "2", 1);
  setenv("STARPU_NWORKER_PER_CUDA", "1", 1);
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    char given[TEXT];
    const unsigned long before[2] = {cores_launches(0), cores_launches(1)};
    snprintf(given, sizeof given, text, more[i]);
    compare_gas_runs(given, more[i], GAS_STEPS, bar[i], bar[i]);
    report_whether("both GPUs", cores_launches(0) > before[0] && cores_launches(1) > before[1]);
    if (strstr(given, "gravity")) check_divided_potentials(given);
  }
  unsetenv("CORES_GPUS");
  unsetenv("STARPU_NWORKER_PER_CUDA");
}
#else
static void check_two_gpus(void) {}
#endif

void check_gas_on_two_gpus(void) { check_two_gpus(); }

void check_gas(void) {
  puts("stages of gas:");
  for (int solver = 0; solver < SOLVERS; solver++)
    for (int precision = 0; precision < PRECISIONS; precision++)
      check_gas_stages(solver, precision);
  for (int precision = 0; precision < PRECISIONS; precision++) check_gas_shocks(precision);
  puts("runs of gas:");
  for (int solver = 0; solver < SOLVERS; solver++)
    for (int precision = 0; precision < PRECISIONS; precision++)
      for (int fused = 1; fused >= 0; fused--) check_run(solver, precision, fused);
  check_two_gpus();
}
