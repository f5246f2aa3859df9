/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The phase-space sheet of pictures: CUDA against CPU, bit by bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/analysis/gpu_analysis.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/runtime/engine.h"
#include "src/analysis/sheet.h"
#include "src/analysis/sheet_part.h"
#include "support/force_set.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/compare.h"

enum shape { UNIFORM, JITTERED, FOLDED, CLUMPED };
static const char *const shapes[] = {"uniform", "jittered", "folded", "clumped"};

/** A random number in [-1, 1) that belongs to a point of a lattice and an axis (splitmix64). */
static double noise(uint64_t point, size_t axis) {
  uint64_t seed = (3 * point + axis + 1) * 0x9e3779b97f4a7c15U;
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9U;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111ebU;
  return (double)((seed ^ seed >> 31) >> 11) * 0x1p-52 - 1.0;
}

/** Where a point of the lattice is, over the box. In `clumped` half of the points are near a corner
 * of the box, or the middle of a side or a face of the box, or its own. */
static double place_of(enum shape shape, size_t side, uint64_t point, size_t axis) {
  static const double amplitude[] = {0.0, 0.05, 2.0};
  const size_t stride[3] = {side * side, side, 1};
  const double n = (double)side, q = ((double)(point / stride[axis] % side) + 0.3) / n,
               r = noise(point, axis);
  if (shape != CLUMPED) return q + amplitude[shape] / n * r;
  return noise(point, 3) < 0.0 ? q + 0.02 * r : 0.5 * round(2.0 * q) + 0.03 * r * r * r;
}

static void fill(enum shape shape, size_t side, uint64_t point, uint32_t position[3]) {
  for (size_t c = 0; c < 3; c++)
    position[c] = position_to_integer(place_of(shape, side, point, c), 1.0);
}

/** The map of a lattice by a CPU, and by a GPU; and their times. */
static void deposit(const struct sheet_part *part, size_t points, uint64_t *cpu, uint64_t *gpu,
                    double milliseconds[2]) {
  const size_t bytes = part->pixels * part->pixels * sizeof *cpu;
  struct sheet_part p = *part;
  p.map = cpu;
  const double begin = starpu_timing_now();
  sheet_deposit(&p);
  milliseconds[0] = 1e-3 * (starpu_timing_now() - begin);
  cudaStream_t stream;
  void *position, *map;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaMalloc(&position, points * sizeof *p.position));
  CUDA(cudaMalloc(&map, bytes));
  CUDA(cudaMemcpy(position, part->position, points * sizeof *p.position, cudaMemcpyHostToDevice));
  struct gpu *worker = gpu_create(stream, NULL);
  p.position = (const uint32_t(*)[3])position;
  p.map = map;
  for (int turn = 0; turn < 2; turn++) { /* the first one loads the kernels */
    CUDA(cudaMemset(map, 0, bytes));
    CUDA(cudaDeviceSynchronize());
    const double start = starpu_timing_now();
    gpu_sheet_deposit(worker, &p);
    CUDA(cudaDeviceSynchronize());
    milliseconds[1] = 1e-3 * (starpu_timing_now() - start);
  }
  CUDA(cudaMemcpy(gpu, map, bytes, cudaMemcpyDeviceToHost));
  gpu_free(worker);
  CUDA(cudaFree(position));
  CUDA(cudaFree(map));
  CUDA(cudaStreamDestroy(stream));
}

/** @return whether both maps have the same bits */
static bool check_deposit(enum shape shape, size_t side, size_t pixels, bool slice) {
  const size_t points = (side + 1) * side * side, values = pixels * pixels;
  uint32_t(*position)[3] = allocate(points, sizeof *position, "a lattice");
  for (size_t i = 0; i < points; i++) fill(shape, side, i % (side * side * side), position[i]);
  const struct sheet_part part = {.side = side,
                                  .planes = side,
                                  .scale = (double)pixels / POSITION_TURN,
                                  .mass = 0x1p62 / 6.0 / pow((double)side, 3.0),
                                  .pixels = pixels,
                                  .low = slice ? 0xe0000000u : 0,
                                  .extent = slice ? 0x3fffffffu : UINT32_MAX,
                                  .position = (const uint32_t(*)[3])position};
  uint64_t *cpu = allocate(values, sizeof *cpu, "a map"),
           *gpu = allocate(values, sizeof *gpu, "a map");
  double milliseconds[2];
  deposit(&part, points, cpu, gpu, milliseconds);
  size_t different = 0;
  for (size_t i = 0; i < values; i++) different += cpu[i] != gpu[i];
  printf("  %-8s lattice of %3zu, %4zu pixels, %s  %9.2f ms, GPU %7.2f ms  ", shapes[shape], side,
         pixels, slice ? "slice" : "whole", milliseconds[0], milliseconds[1]);
  if (different == 0)
    puts("the same bits");
  else
    printf("%zu of %zu values DIFFER\n", different, values);
  free(cpu);
  free(gpu);
  free(position);
  return different == 0;
}

/** The map of a lattice by StarPU's tasks. */
static double *project(bool gpu, size_t side, const struct projection *projection,
                       uint64_t *tasks) {
  struct parameters p;
  parameters_from_text(&p, "[box]\nsize = 100\nnpart_side = 2\n", NULL, 0);
  start_engine(&p, gpu);
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  struct particles s = particles_create_blocks(side * side * side, 8, 100.0, 1.0);
  for (size_t g = 0; g < s.blocks; g++) {
    struct particle_block b = particles_block(&s, g);
    for (size_t i = 0; i < b.count; i++) {
      uint32_t position[3];
      b.id[i] = b.first + i + 1;
      fill(FOLDED, side, b.first + i, position);
      for (size_t c = 0; c < 3; c++) b.x[c][i] = position[c];
    }
  }
  double *map;
  if (!sheet_project(&s, side, 1, projection, &map)) fail(EXIT_RUN_FAILED, "no lattice");
  *tasks = gpu_tasks();
  particles_free(&s);
  engine_stop();
  return map;
}

static bool check_tasks(void) {
  enum { SIDE = 64, PIXELS = 300 };
  const struct projection whole = {PIXELS, 0, UINT32_MAX, NULL};
  uint64_t tasks;
  double *cpu = project(false, SIDE, &whole, &tasks), *gpu = project(true, SIDE, &whole, &tasks);
  bool same = true;
  for (size_t i = 0; i < PIXELS * PIXELS; i++) same = same && cpu[i] == gpu[i];
  printf("  a picture by tasks, of which GPUs ran %llu: %s\n", (unsigned long long)tasks,
         same ? "the same bits" : "DIFFERENT");
  free(cpu);
  free(gpu);
  return same;
}

void check_pictures(void) {
  static const size_t sides[] = {1, 2, 3, 24}, pixels[] = {64, 257};
  puts("pictures: CPU, GPU:");
  for (enum shape shape = UNIFORM; shape <= CLUMPED; shape++)
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
      for (size_t k = 0; k < sizeof pixels / sizeof *pixels; k++)
        for (int slice = 0; slice < 2; slice++)
          failures += !check_deposit(shape, sides[i], pixels[k], slice);
  failures += !check_deposit(JITTERED, 128, 1024, false);
  failures += !check_deposit(JITTERED, 64, 1024, true);
  failures += !check_tasks();
}
