/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all programs that run CUDA kernels beside their CPU versions have in common. */
#ifndef PHOTONS_TESTS_GPU_COMPARE_H
#define PHOTONS_TESTS_GPU_COMPARE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/error.h"

struct parameters;

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) fail(EXIT_RUN_FAILED, "%s: %s", #call, cudaGetErrorString(status)); \
  } while (0)

/* Whether kernels run on the processor, where they take long. */
#ifdef CUDA_ON_CORES
enum { ON_CORES = 1 };
#else
enum { ON_CORES = 0 };
#endif

/** Comparisons that went wrong so far. */
extern int failures;

/** Sums of squares over all calls of one stage. */
struct difference {
  const char *stage;
  double difference2, reference2, largest;
};

/** Memory of the GPU, which is not set. CUDA frees it. */
void *device_memory(size_t bytes);
/** A copy on the GPU. */
void *to_device(const void *from, size_t bytes);
/** Add what two numbers differ by. */
void compare_one(struct difference *d, double cpu, double gpu);
/** The same of n numbers. */
void compare(struct difference *d, const float *cpu, const float *gpu, size_t n);
/** The root mean square of the difference, relative to that of the reference. */
double rms_of(const struct difference *d);
/** Print the relative difference of a stage, and count it as a failure where it is above the limit.
 * Each stage's rounding differs only by the order of sums and by fused operations. */
void report(const struct difference *d, double limit);
/** Number i of an array. @param real  bytes of a number: of a float or of a double */
double number_at(size_t real, const void *array, size_t i);
/** Add what two arrays differ by. @param real  as above */
void compare_numbers(struct difference *d, size_t real, const void *cpu, const void *gpu,
                     size_t bytes);
/** The same of gas, in its format. */
void report_difference(const char *what, struct difference d, double bar);
/** Print whether something is as it should be, and count it where it is not. */
void report_whether(const char *what, bool good);
/** Start StarPU with GPUs, which must be there, or without. */
void start_engine(const struct parameters *p, bool gpu);
/** The number of tasks that GPUs have run since StarPU's profiling began. */
uint64_t gpu_tasks(void);
/** End the program with exit code 77 unless there is a GPU. */
void gpu_or_skip(void);

#endif
