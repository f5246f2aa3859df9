/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gas of a run: made from parameters, its memory, and given to the host. */
#ifndef PHOTONS_GAS_CREATE_H
#define PHOTONS_GAS_CREATE_H

#include "photons/amr/gas.h"

struct parameters;

/** The equations and the scheme of a run. */
struct gas_physics gas_physics_of(const struct parameters *p);

/** Make an octree of the root level alone, with cells that are not set. */
struct gas *gas_create(const struct parameters *p);
/** StarPU still runs; no task does. */
void gas_free(struct gas *g);

/** Bytes of memory that a group takes up in a run, and that all groups do on all ranks, without
 * ghosts. */
double gas_bytes_per_group(const struct parameters *p);
double gas_memory(const struct gas *g);
/** Bytes of memory of the root level, and most bytes that all ranks need at times besides: for initial
 * waves where the run begins, and for power spectra. */
double gas_root_memory(const struct parameters *p);
double gas_memory_at_times(const struct parameters *p, size_t particles, bool begins);
/** GPUs whose memory suffices for the root level and what refined levels may need; 0: there are no GPUs. */
double gas_gpus_needed(const struct parameters *p);
/** End the program where the machines in use cannot hold the root level and what there is at times.
 * @param begins  from initial conditions, not from a checkpoint */
void gas_require_root(const struct parameters *p, bool begins);
/** End the run where the machines in use cannot hold so many groups more. */
void gas_require_memory(const struct gas *g, int level, uint32_t groups);

/** Side of the box along x. */
double gas_length(const struct parameters *p);
/** gas_physics.least_heat at a scale factor. */
double gas_least_heat(const struct gas *g, double scale);

/** Take over the present cells of this rank's batches from StarPU, after all tasks, and give them
 * back. @param mode  STARPU_R, or STARPU_W to set all of them */
void gas_acquire(struct gas *g, enum starpu_data_access_mode mode);
void gas_release(struct gas *g);

#endif
