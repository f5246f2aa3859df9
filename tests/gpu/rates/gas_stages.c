/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of the stages of gas by sizes of batches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/hydro/gpu_hydro.h"
#include "photons/amr/topology.h"
#include "photons/base/clock.h"
#include "photons/base/error.h"
#include "photons/config/choices.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/gas/gas.h"
#include "tests/gpu/rates/rates.h"

/** A batch of groups, each of which is its own neighbour on all sides, on the device. */
struct bench {
  struct gpu *gpu;
  cudaStream_t stream;
  struct gpu_gas g;
  struct gpu_sources sources;
  const char *cells[1];
  char *blocks, *fluxes, *sides;
  double *pinned;
};

enum bench_stage { PREPARE, SOLVE, CLOSE, CFL, SUM, FLAG, BENCH_STAGES };

static void run_stage(struct bench *b, enum bench_stage stage, bool odd) {
  static const struct gas_flags criteria = {.loehner = 0.9, .loehner_filter = 0.01};
  void *cells = (void *)(uintptr_t)b->cells[0];
  switch (stage) {
  case PREPARE: gpu_gas_prepare(&b->g, &b->sources, b->blocks, gpu_gas_heat(&b->g)); break;
  case SOLVE:
    gpu_gas_solve(&b->g, 0.2, odd, b->blocks, gpu_gas_heat(&b->g), cells, b->fluxes, GPU_FACES_ALL,
                  NULL, (struct gas_fault *)b->pinned);
    break;
  case CLOSE: gpu_gas_close(&b->g, 0.5, false, b->fluxes, b->sides); break;
  case CFL:
    gpu_gas_cfl(&b->g, cells, b->pinned + 3 * (size_t)b->g.groups, (struct gas_fault *)b->pinned);
    break;
  case SUM:
    gpu_gas_sum(&b->g, b->sources.links, cells, (double(*)[GAS_VARIABLES_MAX])(void *)b->pinned);
    break;
  default:
    gpu_gas_flag(&b->g, &b->sources, &criteria, 4, NULL,
                 (uint32_t(*)[GAS_PATCHES])(void *)b->pinned);
  }
}

/** 10^9 cells a second. */
static double stage_rate(struct bench *b, enum bench_stage stage) {
  enum { REPEATS = 20 };
  for (uint32_t i = 0; i < b->g.groups; i++) ((struct gas_fault *)b->pinned)[i].patch = -1;
  run_stage(b, stage, false);
  CUDA(cudaStreamSynchronize(b->stream));
  const double begin = wall_clock();
  for (int i = 0; i < REPEATS; i++) run_stage(b, stage, i % 2);
  CUDA(cudaStreamSynchronize(b->stream));
  return 1e-9 * REPEATS * (double)b->g.groups * GAS_GROUP_CELLS / (wall_clock() - begin);
}

/** Gas in random subsonic motion. */
static char *random_cells(size_t groups, unsigned variables, size_t real) {
  const size_t values = groups * variables * GAS_GROUP_CELLS;
  char *cells = allocate(values, real, "cells");
  uint32_t random = 1;
  for (size_t i = 0; i < values; i++) {
    const size_t v = i / GAS_GROUP_CELLS % variables;
    random = random * 1664525u + 1013904223u;
    const double x = random * 0x1p-32;
    const double u = v == GAS_DENSITY ? 1.0 + 0.2 * x : v == GAS_ENERGY ? 3.0 + 0.3 * x : 0.4 * x;
    if (real == sizeof(double))
      ((double *)(void *)cells)[i] = u;
    else
      ((float *)(void *)cells)[i] = (float)u;
  }
  return cells;
}

void measure_batch(int solver, int precision, uint32_t groups) {
  const struct gas_physics physics = {.solver = (enum gas_solver)solver,
                                      .limiter = GAS_LIMITER_VAN_LEER,
                                      .minmod = 1.5,
                                      .gamma = 1.4};
  const size_t real = precision == GAS_DOUBLE ? sizeof(double) : sizeof(float);
  const size_t size = groups * gas_variables(&physics) * real;
  struct gas_links *links = allocate(groups, sizeof *links, "links");
  memset(links, 0xff, groups * sizeof *links);
  for (uint32_t i = 0; i < groups; i++) {
    links[i].edges = links[i].refined = 0;
    for (int n = 0; n < NEIGHBOURS; n++) links[i].near[n] = i;
  }
  struct bench b = {0};
  char *cells = random_cells(groups, gas_variables(&physics), real);
  struct gas_links *links_out = to_device(links, groups * sizeof *links);
  CUDA(cudaStreamCreate(&b.stream));
  b.gpu = gpu_create(b.stream, NULL);
  b.cells[0] = to_device(cells, size * GAS_GROUP_CELLS);
  b.blocks = device_memory(size * GAS_BLOCK_CELLS);
  b.fluxes = device_memory(size * GAS_PATCHES * GAS_FACES * GAS_FACE_CELLS);
  b.sides = device_memory(size * GAS_FACES * GAS_FACE_CELLS);
  CUDA(cudaMemset(b.sides, 0, size * GAS_FACES * GAS_FACE_CELLS));
  CUDA(cudaMallocHost((void **)&b.pinned, groups * 8 * sizeof *b.pinned));
  b.g = (struct gpu_gas){b.gpu, physics, precision == GAS_DOUBLE, groups};
  b.sources = (struct gpu_sources){.cells = b.cells, .near = 1, .weight = 1.0, .links = links_out};
  printf("  %-6s %-7s %5u ", gas_solver_names[solver], gas_precision_names[precision], groups);
  for (int stage = 0; stage < BENCH_STAGES; stage++)
    printf(" %8.2f", stage_rate(&b, (enum bench_stage)stage));
  printf("\n");
  gpu_free(b.gpu);
  CUDA(cudaStreamDestroy(b.stream));
  CUDA(cudaFree((void *)(uintptr_t)b.cells[0]));
  CUDA(cudaFree(b.blocks));
  CUDA(cudaFree(b.fluxes));
  CUDA(cudaFree(b.sides));
  CUDA(cudaFree(links_out));
  CUDA(cudaFreeHost(b.pinned));
  free(links);
  free(cells);
}
