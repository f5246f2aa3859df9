/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of self-gravity on three levels, and runs with it. */
#include "tests/gpu/potential/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/pm/gpu_pm.h"
#include "photons/amr/matter.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/runtime/engine.h"
#include "support/force_set.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/gas/gas.h"

enum { TEXT = 2000 };
/* Potentials are in double precision whatever the cells are: the order of operations and fused ones
 * differ, by some units in the last place of the largest terms. The solution of a group adds up some
 * hundred terms for each cell. Relaxation ends where its residual is small, in both. */
static const double potential_bar = 1e-14, solution_bar = 1e-13, relaxed_bar = 1e-8;
/* Cells that were kicked, and whole runs: a relaxation to 1e-12 may end a sweep earlier or later. In single
 * precision the entropy of cold gas that collapses differs most, by 1.7e-5 on an H200. */
static const double cell_bar[PRECISIONS] = {2e-6, 4e-15}, run_bar[PRECISIONS] = {3e-5, 1e-10};

static double next_random(struct stages *s) {
  s->random = s->random * 1664525u + 1013904223u;
  return s->random * 0x1p-31 - 1.0;
}

static struct mirrored mirror(const void *from, size_t bytes) {
  char *host = memcpy(allocate(bytes, 1, "test data"), from, bytes);
  return (struct mirrored){host, to_device(host, bytes), bytes};
}

static struct mirrored random_numbers(struct stages *s, size_t bytes) {
  double *numbers = allocate(bytes, 1, "test data");
  for (size_t i = 0; i < bytes / sizeof *numbers; i++) numbers[i] = next_random(s);
  const struct mirrored m = mirror(numbers, bytes);
  free(numbers);
  return m;
}

static void free_mirrored(struct mirrored *m) {
  free(m->host);
  CUDA(cudaFree(m->device));
}

static struct batch_data make_data(struct stages *s, const struct gas_level *l,
                                   const struct gas_batch *b) {
  const size_t cubes = b->count * CUBE_BYTES;
  return (struct batch_data){
      .old = random_numbers(s, cubes),
      .now = random_numbers(s, cubes),
      .mass = random_numbers(s, cubes),
      .shares = random_numbers(s, b->count * sizeof(struct poisson_share)),
      .links = mirror(b->link, b->count * sizeof *b->link),
      .cells = to_device(gas_cells(s->g, (int)(l - s->g->level), b->first),
                         b->count * gas_group_bytes(s->g)),
  };
}

static void free_data(struct batch_data *d) {
  struct mirrored *all[] = {&d->old, &d->now, &d->mass, &d->shares, &d->links};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free_mirrored(all[i]);
  CUDA(cudaFree(d->cells));
}

void copy_back(const struct stages *s, void *to, const void *from, size_t bytes) {
  CUDA(cudaStreamSynchronize(s->stream));
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

struct gpu_gas batch_on_gpu(const struct stages *s, const struct gas_batch *b) {
  return (struct gpu_gas){s->gpu, s->g->scheme.physics,
                          s->g->scheme.kernels->real_size == sizeof(double), b->count};
}

struct gpu_half half_of(int i) {
  return (struct gpu_half){i & 1, i >> 1 ? GPU_OTHERS_COPY : GPU_OTHERS_ZERO, i == 3 ? 0.5 : 0.0};
}

bool is_half(const struct stages *s, int level, uint32_t group, struct gpu_half half) {
  return topology_is_odd(s->g->topology.level[level].key[group]) == half.odd;
}

static void check_batch(struct stages *s, int level, uint32_t number) {
  static const struct mode modes[] = {
      {.coarse = true, .weight = 0.3, .inner = true},
      {.coarse = true, .weight = 0.0},
      {.near = true, .coarse = true, .weight = 1.0, .inner = true},
      {.near = true, .coarse = true, .weight = 0.3, .inner = true},
      {.near = true, .coarse = true, .weight = 0.3},
      {.near = true, .coarse = true, .weight = 1.0, .change = 1.0, .inner = true},
      {.near = true, .coarse = true, .weight = 1.0, .change = 1.0},
      {.near = true, .coarse = true, .weight = 0.6, .change = 0.4, .inner = true},
      {.near = true, .coarse = true, .weight = 1.0, .change = 0.5},
      {.near = true, .inner = true}};
  const struct gas_batch *b = &s->g->level[level].batch[number];
  const struct batch_data *d = &s->data[level][number];
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (modes[i].inner && (level > 0 || !modes[i].coarse)) check_blocks(s, level, b, d, modes[i]);
  for (uint32_t i = 0; i < b->count; i++)
    for (uint32_t edges = b->link[i].edges; edges; edges &= edges - 1) s->beyond++;
  struct prepared t = {.s = s,
                       .level = level,
                       .b = b,
                       .d = d,
                       .blocks = random_numbers(s, b->count * sizeof(double[POISSON_CELLS])),
                       .wide = random_numbers(s, b->count * sizeof(double[WIDE_CELLS])),
                       .cells = gas_cells(s->g, level, b->first),
                       .out = device_memory(b->count * CUBE_BYTES)};
  for (int massive = 0; massive < 2; massive++) {
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
      if (!modes[i].inner && level > 0) check_direct(&t, modes[i], massive);
    for (int i = 2; i < HALVES; i++) check_relaxation(&t, half_of(i), massive);
    if (!massive) check_density(&t);
    check_shares(&t, massive);
  }
  struct mirrored matter = random_numbers(s, b->count * sizeof(struct gas_matter));
  check_messages(s, b, &d->now, GPU_GHOST_POTENTIALS);
  check_messages(s, b, &d->shares, GPU_GHOST_SHARES);
  check_messages(s, b, &matter, GPU_GHOST_MATTER);
  check_means(s, b, &matter);
  free_mirrored(&matter);
  check_sheets(&t);
  check_kick(&t);
  check_border(&t);
  check_work(&t);
  check_field(&t);
  free_mirrored(&t.blocks);
  free_mirrored(&t.wide);
  CUDA(cudaFree(t.out));
}

/** Take over all present cells, or give them back. */
static void hold_cells(struct gas *g, bool hold) {
  if (hold)
    gas_acquire(g, STARPU_R);
  else
    gas_release(g);
}

/** All stages on three levels, with potentials of random numbers. */
static void check_stages(int precision, bool periodic) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = %s\ndirection = diagonal\n[gas]\nroot = %s\n"
      "levels = 2\nregrid = 100\nbuffer = 4\nbatch = 6\nhomes = 1\n%sprecision = %s\ngravity = "
      "self\n"
      "[time]\nend = 1\n";
  static const char outflow[] =
      "flag_gradient_density = 0.05\nx_low = outflow\nx_high = outflow\ny_low = outflow\n"
      "y_high = outflow\nz_low = outflow\nz_high = outflow\n";
  struct parameters p;
  char given[TEXT];
  const char *root = STAGES_ROOT;
  if (periodic) root = "32, 32, 32";
  snprintf(given, sizeof given, text, periodic ? "blast" : "sod", root,
           periodic ? "flag_gradient_pressure = 0.3\n" : outflow, gas_precision_names[precision]);
  parameters_from_text(&p, given, NULL, 0);
  start_engine(&p, true);
  const struct gas_ic ic = gas_ic_make(&p);
  struct stages s = {.g = gas_create(&p), .random = 1};
  gas_begin(s.g, &ic);
  hold_cells(s.g, true);
  CUDA(cudaStreamCreate(&s.stream));
  s.gpu = gpu_create(s.stream, NULL);
  const int levels = topology_levels(&s.g->topology);
  printf("  %s precision, %s, %d levels: difference of CUDA from CPU, relative\n",
         gas_precision_names[precision], periodic ? "periodic" : "in empty space", levels);
  for (int l = 0; l < levels; l++) {
    s.data[l] = allocate(s.g->level[l].batch_count, sizeof *s.data[l], "batches");
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++)
      s.data[l][i] = make_data(&s, &s.g->level[l], &s.g->level[l].batch[i]);
  }
  for (int l = 0; l < levels; l++)
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++) check_batch(&s, l, i);
  report_whether("levels", levels == 3);
  report_whether("ends", (s.beyond == 0) == periodic);
  report_difference("blocks", s.blocks, potential_bar);
  report_difference("density", s.density, potential_bar);
  report_difference("direct", s.solved, solution_bar);
  report_difference("sor", s.relaxed, relaxed_bar);
  report_difference("shares", s.shares, potential_bar);
  report_whether("sheets", s.sheets > 0 && s.untold > 0);
  report_difference("mass", s.mass, potential_bar);
  report_difference("means", s.means, potential_bar);
  report_difference("kick", s.kicked, cell_bar[precision]);
  report_difference("border", s.border, cell_bar[precision]);
  report_difference("energy", s.energy, solution_bar);
  report_difference("gradient", s.acceleration, potential_bar);
  report_difference("cut", s.cut, 0.0);
  report_difference("paste", s.paste, 0.0);
  report_difference("matter", s.means_of_matter, potential_bar);
  for (int l = 0; l < levels; l++) {
    for (uint32_t i = 0; i < s.g->level[l].batch_count; i++) free_data(&s.data[l][i]);
    free(s.data[l]);
  }
  gpu_free(s.gpu);
  CUDA(cudaStreamDestroy(s.stream));
  hold_cells(s.g, false);
  gas_free(s.g);
  engine_stop();
}

/** A blast that its own gravity holds back, and a ball that collapses in empty space. */
static void check_runs(int precision) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = %s\n[gas]\nroot = 32, 48, 32\nlevels = 2\nregrid = 2\n"
      "batch = 5\nprecision = %s\ngravity = self\npoisson = %s\n%s\n[time]\nend = 1\n";
  static const struct {
    const char *name, *source, *poisson, *more;
  } runs[] = {{"periodic", "blast", "direct",
               "flag_gradient_pressure = 0.3\nbuffer = 4\nnewton_constant = 0.1\n"},
              {"with equal steps, sor", "blast", "sor",
               "flag_gradient_pressure = 0.3\nbuffer = 4\nnewton_constant = 0.1\nsteps = shared\n"
               "sor_tolerance = 1e-12\n"},
              {"in empty space", "collapse", "direct",
               "flag_density = 0.5, 0.5\nx_low = outflow\nx_high = outflow\ny_low = outflow\n"
               "y_high = outflow\nz_low = outflow\nz_high = outflow\nbuffer = 2\n"}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char given[TEXT], name[TEXT];
    snprintf(given, sizeof given, text, runs[i].source, gas_precision_names[precision],
             runs[i].poisson, runs[i].more);
    snprintf(name, sizeof name, "%s, %s precision", runs[i].name, gas_precision_names[precision]);
    compare_gas_runs(given, name, GAS_STEPS, run_bar[precision], run_bar[precision]);
  }
}

void check_gas_gravity(void) {
  puts("stages of self-gravity:");
  for (int precision = 0; precision < PRECISIONS; precision++)
    check_together(precision, precision == GAS_SINGLE);
  for (int precision = 0; precision < PRECISIONS; precision++)
    for (int periodic = 0; periodic < 2; periodic++) check_stages(precision, periodic);
  puts("runs with self-gravity:");
  for (int precision = 0; precision < PRECISIONS; precision++) check_runs(precision);
}
