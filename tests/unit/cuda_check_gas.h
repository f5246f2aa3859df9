/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_TESTS_UNIT_CUDA_CHECK_GAS_H
#define PHOTONS_TESTS_UNIT_CUDA_CHECK_GAS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "photons/base/error.h"

struct parameters;

/** Compare the CUDA stages of gas with the CPU's on the same input, and whole runs with refinement.
 * @return number of differences that are too large */
int check_gas(void);
/** The runs on two GPUs alone, where kernels run on the processor. @return as check_gas() */
int check_gas_on_two_gpus(void);
/** Rates of the stages by sizes of batches, and of whole steps, on GPUs and on cores. */
void benchmark_gas(void);
/** Time of regriddings on a GPU, and their share in whole steps. */
void benchmark_regrid(void);

/** The same of the stages of self-gravity, and of runs with it. */
int check_gas_gravity(void);
/** Rates of the solution of patch groups on a GPU and on a core, and of whole steps. */
void benchmark_gas_gravity(void);

/** Runs in an expanding universe. */
int check_gas_cosmology(void);

/* What these have in common. */

#define CUDA(call)                                                                                 \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) fail(EXIT_RUN_FAILED, "%s: %s", #call, cudaGetErrorString(status)); \
  } while (0)

struct number_difference {
  double difference2, reference2; /**< sums of squares */
};
/** Add what two arrays differ by. @param real  bytes of a number: of a float or of a double */
void compare_numbers(struct number_difference *d, size_t real, const void *cpu, const void *gpu,
                     size_t bytes);
/** Print the root of difference2/reference2. @return whether it is at most `bar` */
bool report_difference(const char *what, struct number_difference d, double bar);
bool report_whether(const char *what, bool good);

void *gas_device_memory(size_t bytes);
void *gas_to_device(const void *from, size_t bytes);

void start_engine(const struct parameters *p, bool gpu);

/* Whether kernels run on the processor, where they take long, and steps of a run. */
#ifdef CUDA_ON_CORES
enum { ON_CORES = 1, GAS_STEPS = 2 };
#define STAGES_ROOT "32, 16, 16" /* cells of the root level of the gas whose stages are compared */
#else
enum { ON_CORES = 0, GAS_STEPS = 10 };
#define STAGES_ROOT "32, 32, 32"
#endif

/** Run a configuration on cores and on GPUs: refinement, cells and potentials, or without gravity
 * the conserved sums.
 * @param entropy_bar  of the entropy alone
 * @return number of differences that are too large */
int compare_gas_runs(const char *text, const char *name, int steps, double bar, double entropy_bar);

#endif
