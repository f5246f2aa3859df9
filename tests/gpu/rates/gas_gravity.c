/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Solutions of groups of patches on a GPU and on a core, and whole steps with self-gravity. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/potential/gpu_potential.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/engine.h"
#include "support/force_set.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/rates/rates.h"

/** Groups of random density between random ghost cells, each of which is its own neighbour. */
struct bench {
  struct gpu_gas g;
  struct self_gravity gravity;
  cudaStream_t stream;
  float *cells; /* on the device, as all that follows */
  double *blocks, *potentials, *pivot;
  struct gas_links *links;
  const char *near[1];
};

enum solution { DIRECT, SOR, KICK, SOLUTIONS };

static void run_solution(struct bench *b, enum solution which) {
  const struct gpu_density density = {.cells = b->cells, .factor = 1.0, .mean = 1.0};
  const struct gpu_potentials from = {
      .cells = b->near, .near = 1, .weight = 1.0, .links = b->links};
  const struct gpu_half even = {.others = GPU_OTHERS_STAY};
  const struct gpu_solved batch = {
      .density = density, .from = from, .to = b->potentials, .groups = b->g.groups};
  switch (which) {
  case DIRECT:
    gpu_gas_solve_directly(&b->g, &b->gravity.waves, b->pivot, &batch, 1, &even, 1);
    break;
  case SOR:
    gpu_gas_relax(&b->g, &density, 1e-7, 0.0, b->links, even, b->blocks, b->potentials);
    break;
  default: gpu_gas_kick(&b->g, 1e-9, b->blocks, b->cells);
  }
}

static double *random_doubles(size_t count) {
  double *numbers = allocate(count, sizeof *numbers, "numbers");
  uint32_t random = 1;
  for (size_t i = 0; i < count; i++) {
    random = random * 1664525u + 1013904223u;
    numbers[i] = random * 0x1p-32;
  }
  return numbers;
}

static void measure_groups(uint32_t groups) {
  enum { REPEATS = 50, VARIABLES = 5 };
  struct bench b = {.g = {.physics = {.solver = GAS_RTVD}, .groups = groups}};
  const size_t cells = (size_t)groups * GAS_GROUP_CELLS, blocks = (size_t)groups * POISSON_CELLS;
  double *numbers = random_doubles(blocks);
  float *density = allocate(VARIABLES * cells, sizeof *density, "cells");
  struct gas_links *links = allocate(groups, sizeof *links, "links");
  memset(links, 0xff, groups * sizeof *links);
  for (uint32_t i = 0; i < groups; i++) {
    links[i].edges = links[i].refined = links[i].patch = 0; /* even groups: all are solved */
    for (int n = 0; n < NEIGHBOURS; n++) links[i].near[n] = i;
  }
  for (size_t i = 0; i < VARIABLES * cells; i++) density[i] = (float)numbers[i % blocks];
  poisson_waves_make(&b.gravity.waves);
  CUDA(cudaStreamCreate(&b.stream));
  b.g.gpu = gpu_create(b.stream, NULL);
  b.cells = to_device(density, VARIABLES * cells * sizeof *density);
  b.blocks = to_device(numbers, blocks * sizeof *numbers);
  b.potentials = to_device(numbers, cells * sizeof *numbers);
  b.pivot = to_device(b.gravity.waves.pivot, sizeof b.gravity.waves.pivot);
  b.links = to_device(links, groups * sizeof *links);
  b.near[0] = (const char *)b.potentials;
  printf("  GPU       %5u", groups);
  for (int which = 0; which < SOLUTIONS; which++) {
    run_solution(&b, (enum solution)which);
    CUDA(cudaStreamSynchronize(b.stream));
    const double begin = wall_clock();
    for (int i = 0; i < REPEATS; i++) run_solution(&b, (enum solution)which);
    CUDA(cudaStreamSynchronize(b.stream));
    printf(" %10.3e", REPEATS * (double)cells / (wall_clock() - begin));
  }
  printf("\n");
  gpu_free(b.g.gpu);
  CUDA(cudaStreamDestroy(b.stream));
  void *const device[] = {b.cells, b.blocks, b.potentials, b.pivot, b.links};
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
  free(links);
  free(density);
  free(numbers);
}

/** The same solutions of one group on one core. */
static void measure_core(void) {
  const struct poisson_kernels *k = poisson_kernels_select();
  struct poisson_waves waves;
  double *source = random_doubles(GAS_GROUP_CELLS), *from = random_doubles(POISSON_CELLS),
         cube[GAS_GROUP_CELLS], block[POISSON_CELLS], sum = 0.0;
  poisson_waves_make(&waves);
  for (int i = 0; i < GAS_GROUP_CELLS; i++) sum += source[i];
  printf("  one core      1");
  for (int direct = 1; direct >= 0; direct--) {
    const int repeats = direct ? 20000 : 500;
    const double begin = wall_clock();
    for (int i = 0; i < repeats; i++) {
      memcpy(block, from, sizeof block);
      if (direct)
        k->solve_directly(&waves, source, block, cube);
      else
        k->solve(source, 1e-7 * sum, POISSON_SWEEPS_MAX, block);
    }
    printf("%s%10.3e", direct ? "" : " ",
           repeats * (double)GAS_GROUP_CELLS / (wall_clock() - begin));
  }
  printf("\n");
  free(source);
  free(from);
}

/** Steps of a ball that collapses in a root level of 64^3 cells with two finer levels. */
static void measure_run(bool gpu) {
  static const char text[] =
      "[run]\nsystem = gas\n[ic]\nsource = collapse\n[gas]\nroot = 64, 64, 64\nlevels = 2\n"
      "flag_density = 0.5, 0.5\ngravity = self\nx_low = outflow\nx_high = outflow\n"
      "y_low = outflow\ny_high = outflow\nz_low = outflow\nz_high = outflow\n[time]\nend = 1\n";
  enum { STEPS = 3 };
  struct parameters p;
  parameters_from_text(&p, text, NULL, 0);
  const struct gas_ic ic = gas_ic_make(&p);
  start_engine(&p, gpu);
  struct gas *g = gas_create(&p);
  gas_begin(g, &ic);
  gravity_solve(g, 0, 1.0);
  double dt = 0.4 * gas_measure(g).longest_step, begin = 0.0, updates = 0.0;
  for (int i = 0; i <= STEPS; i++) {
    if (i == 1) begin = wall_clock(); /* the first step warms up */
    gas_step(g, dt);
    dt = 0.4 * gas_measure(g).longest_step;
    for (int l = 0; i > 0 && l <= 2; l++) updates += (double)g->counts.updates[l];
  }
  const double time = wall_clock() - begin;
  printf("  %-8s %9.4f  %.3e  patches", gpu ? "GPU" : "cores", time / STEPS, updates / time);
  for (int l = 0; l < topology_levels(&g->topology); l++)
    printf(" %u", GAS_PATCHES * g->topology.level[l].count);
  printf("\n");
  gas_free(g);
  engine_stop();
}

void benchmark_gas_gravity(void) {
  printf("cells a second of the groups of a batch, cells in single precision\n"
         "            groups     direct        sor       kick\n");
  measure_core();
  for (uint32_t groups = 32; groups <= 2048; groups *= 2) measure_groups(groups);
  printf("whole steps: seconds of a step, and cell updates a second\n");
  measure_run(false);
  measure_run(true);
}
