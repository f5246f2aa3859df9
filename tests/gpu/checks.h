/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the words of cuda_check compare: the CUDA version of stages and runs beside that of the CPU. */
#ifndef PHOTONS_TESTS_GPU_CHECKS_H
#define PHOTONS_TESTS_GPU_CHECKS_H

#include <stddef.h>

struct bench;

/** The stages of trees, of sorts and of the motion, on all groups. */
void check_tree(const struct bench *b);
/** The stages of block time steps, with several shares of active particles. */
void check_block(const struct bench *b);
/** The stages on the mesh. */
void check_mesh(const struct bench *b);
/** Which pairs of nodes a walk of an isolated system accepts, beside formulas. */
void check_judged_pairs(void);
/** How many particles a leaf has with GPUs. */
void check_layout(void);
/** Forces computed by the GPU against Ewald sums and against the CPU's forces. No accuracy is
 * documented for the paper's method. Its bound is what the method gives without a tree (CIC and
 * four-point differences on this mesh, exact sums up to r_cut), plus a tenth. */
void check_sets(void);
/** Spheres with expansions of several orders and both softenings, and a galaxy. */
void check_isolated(void);
/** Particles of different masses, with and without softening lengths of their own.
 * @param only  the number of a system, from 1 on; 0: all. The cores' reference takes minutes for each */
void check_mixed(size_t only);
/** With several GPUs the scheduler chooses by where a task's data are. A direct sum of particles with
 * masses and types has three arrays of each neighbour, and there may be more than 40 neighbours. */
void check_buffers(void);
/** With several GPUs tasks run on the GPU that owns what they write, even if all that they read is on
 * another one. A task whose data have no owner runs, too. */
void check_owners(void);
/** Pictures of the GPU beside those of the CPU, bit for bit, and the times of both. */
void check_pictures(void);
/** Friends of friends of the GPU beside those of the CPU: the same numbers. */
void check_friends(void);
/** What subhalos need of the GPU beside that of the CPU: the same bits. */
void check_subhalos(void);
/** Power spectra of the GPU beside those of the CPU. */
void check_power(void);
/** Runs of gas on two GPUs, where kernels run on the processor. */
void check_gas_on_two_gpus(void);
/** The stages of gas, and whole runs with refinement. */
void check_gas(void);
/** Runs of gas in an expanding universe. */
void check_gas_cosmology(void);
/** The stages of self-gravity of gas, and runs with it. */
void check_gas_gravity(void);

#endif
