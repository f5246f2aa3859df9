/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/gpu/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/runtime/engine.h"

int failures;

void *device_memory(size_t bytes) {
  void *memory;
  CUDA(cudaMalloc(&memory, bytes ? bytes : 4));
  return memory;
}

void *to_device(const void *from, size_t bytes) {
  void *to = device_memory(bytes);
  CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  return to;
}

void compare_one(struct difference *d, double cpu, double gpu) {
  const double difference = isfinite(gpu) ? cpu - gpu : INFINITY;
  d->difference2 += difference * difference;
  d->reference2 += cpu * cpu;
  d->largest = fmax(d->largest, fabs(difference));
}

void compare(struct difference *d, const float *cpu, const float *gpu, size_t n) {
  for (size_t i = 0; i < n; i++) compare_one(d, (double)cpu[i], (double)gpu[i]);
}

double rms_of(const struct difference *d) {
  return sqrt(d->difference2 / fmax(d->reference2, 1e-300));
}

void report(const struct difference *d, double limit) {
  const double rms = rms_of(d);
  const int good = rms <= limit;
  printf("  %-10s %9.2e  %s\n", d->stage, rms, good ? "ok" : "TOO LARGE");
  failures += !good;
}

double number_at(size_t real, const void *array, size_t i) {
  return real == sizeof(double) ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

void compare_numbers(struct difference *d, size_t real, const void *cpu, const void *gpu,
                     size_t bytes) {
  for (size_t i = 0; i < bytes / real; i++) {
    const double a = number_at(real, cpu, i), b = number_at(real, gpu, i);
    d->difference2 += isfinite(b) ? (a - b) * (a - b) : INFINITY;
    d->reference2 += a * a;
  }
}

void report_difference(const char *what, struct difference d, double bar) {
  const double relative = sqrt(d.difference2 / fmax(d.reference2, 1e-300));
  const bool good = relative <= bar;
  printf("    %-10s %.1e%s\n", what, relative, good ? "" : "  TOO LARGE");
  failures += !good;
}

void report_whether(const char *what, bool good) {
  printf("    %-10s %s\n", what, good ? "as they should be" : "WRONG");
  failures += !good;
}

void start_engine(const struct parameters *p, bool gpu) {
  struct parameters settings = *p;
  settings.runtime.gpu = gpu ? GPU_REQUIRE : GPU_NO;
  engine_start(&settings, NULL);
}

uint64_t gpu_tasks(void) {
  uint64_t tasks = 0;
  for (uint32_t w = 0; w < engine_workers(); w++) {
    struct starpu_profiling_worker_info info;
    if (starpu_worker_get_type((int)w) == STARPU_CUDA_WORKER &&
        starpu_profiling_worker_get_info((int)w, &info) == 0)
      tasks += (uint64_t)info.executed_tasks;
  }
  return tasks;
}

void gpu_or_skip(void) {
  int gpus;
  if (ON_CORES) { /* two streams of the GPU take a thread each, more than there may be cores */
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_SILENT", "1", 0);
  }
  if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0) return;
  puts("no GPU");
  exit(77);
}
