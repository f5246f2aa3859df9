/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of gas, on cores and on GPUs. */
#ifndef PHOTONS_TESTS_GPU_GAS_GAS_H
#define PHOTONS_TESTS_GPU_GAS_GAS_H

enum { SOLVERS = 3, PRECISIONS = 2 };
/** [enum gas_solver], [enum gas_precision], as parameters name them. */
extern const char *const gas_solver_names[SOLVERS], *const gas_precision_names[PRECISIONS];

/* Steps of a run, and cells of the root level of the gas whose stages are compared: few where kernels
 * run on the processor. */
#ifdef CUDA_ON_CORES
enum { GAS_STEPS = 2 };
#define STAGES_ROOT "32, 16, 16"
#else
enum { GAS_STEPS = 10 };
#define STAGES_ROOT "32, 32, 32"
#endif

/** Run a configuration on cores and on GPUs: refinement, cells and potentials, or without gravity
 * the conserved sums.
 * @param entropy_bar  of the entropy alone */
void compare_gas_runs(const char *text, const char *name, int steps, double bar,
                      double entropy_bar);
/** All stages of gas on the levels of a tube along the diagonal, with each kind of boundary. */
void check_gas_stages(int solver, int precision);
/** Strong shocks in gas of several kinds. */
void check_gas_shocks(int precision);

#endif
