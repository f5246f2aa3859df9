/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cuda_bench. */
#ifndef PHOTONS_TESTS_GPU_RATES_RATES_H
#define PHOTONS_TESTS_GPU_RATES_RATES_H

#include <stdbool.h>
#include <stdint.h>

struct bench;
struct gpu;
struct setting;

enum { STREAMS_MOST = 2 };

/** Rates of direct sums, and of the stages of block time steps. @param all  with all laws, in both precisions */
void measure_direct(const struct bench *b, bool all);
/** Times of stages by shares of active particles. The trees of all groups must be fitted. */
void measure_block(const struct bench *b, struct gpu *const *gpu);
/** Times of all stages of a force on all particles. */
void measure_isolated(const struct bench *b);
/** Print the rates of the stages of a batch of so many groups. */
void measure_batch(int solver, int precision, uint32_t groups);
/** Time of regriddings on a GPU, and their share in whole steps. */
void benchmark_regrid(void);
/** Rates of the stages by sizes of batches, and of whole steps, on GPUs and on cores. */
void benchmark_gas(void);
/** Rates of the solution of patch groups on a GPU and on a core, and of whole steps. */
void benchmark_gas_gravity(void);
/** Rates of the stages of a system of particles: of its direct sums and block time steps, or, where it is
 * isolated, of all stages of a force. @param all  of measure_direct() */
void benchmark_system(const struct setting *setting, bool all);

#endif
