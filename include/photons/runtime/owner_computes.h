/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scheduler for several GPUs: the owner of data computes them. */
#ifndef PHOTONS_RUNTIME_OWNER_COMPUTES_H
#define PHOTONS_RUNTIME_OWNER_COMPUTES_H

#include <starpu.h>
#include <stdint.h>

/**
 * A StarPU policy for processes with several GPUs. What a GPU can run, GPUs run; the rest is for cores.
 * A task runs on the GPU that owns the first of the data that it writes, or else reads, which have an
 * owner. What it needs of other GPUs is fetched while it waits for its turn. A task whose data have no
 * owner goes where most of its bytes are; a GPU that has nothing to do takes such tasks from the other
 * GPUs, and long tasks (owner_lasting) that wait there. Of the tasks of a GPU those of the highest priority run
 * first. Long tasks leave one of its streams to others.
 */
extern struct starpu_sched_policy owner_computes;

/** sched_data of a task that keeps a GPU at work for longer than its data take to come from another GPU. */
extern void *const owner_lasting;

/** Where data belong, whatever the number of GPUs: GPU floor(part G/parts) of G. parts = 0: nowhere. */
struct data_home {
  uint32_t part;
  uint32_t parts : 31, shared : 1; /**< shared: all GPUs need the data */
};

/** Let data belong to a GPU of this process: to GPU floor(part G/parts) of G. Other schedulers take no notice of it, but
 * records of the task graph have it. @param handle  NULL: nothing happens */
void owner_set(starpu_data_handle_t handle, uint32_t part, uint32_t parts);
/** The same for data that all GPUs need: what a task writes there is sent to the others when it ends. */
void owner_share(starpu_data_handle_t handle, uint32_t part, uint32_t parts);
/** What one of these two has said. */
struct data_home owner_home(starpu_data_handle_t handle);
/** The GPUs of this process that may own data; 0 without this scheduler. */
uint32_t owner_count(void);

#endif
