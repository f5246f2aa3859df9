/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_TESTS_UNIT_CUDA_CHECK_GAS_H
#define PHOTONS_TESTS_UNIT_CUDA_CHECK_GAS_H

/** Compare the CUDA stages of gas with the CPU's on the same input, and whole runs with refinement.
 * @return number of differences that are too large */
int check_gas(void);
/** Rates of the stages by sizes of batches, and of whole steps, on GPUs and on cores. */
void benchmark_gas(void);
/** Time of regriddings on a GPU, and their share in whole steps. */
void benchmark_regrid(void);

#endif
