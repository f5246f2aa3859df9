/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU as this program uses it: start and end, workers, and the data that a worker keeps between
 * tasks. There is one StarPU per rank, hence one state, at file scope in engine.c. */
#ifndef PHOTONS_RUNTIME_ENGINE_H
#define PHOTONS_RUNTIME_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/runtime/task_log.h"

struct gpu;
struct parameters;
struct pinned_pool;
struct trace;

/**
 * Start StarPU with the settings of section [runtime] of the parameters; STARPU_* environment
 * variables take precedence. Collective: the ranks of one host divide its cores and GPUs
 * (host_share.h). Ends the program if StarPU does not start, has no CPU worker, or lacks the GPU
 * that runtime.gpu = require asks for.
 * @param trace  prepared here, before StarPU starts; NULL: no traces
 */
void engine_start(const struct parameters *p, struct trace *trace);
/** Stop StarPU. All tasks must have ended and all handles must be unregistered. */
void engine_stop(void);

/** Whether this rank uses GPUs; scheduler_any_gpu(): whether any rank does. */
bool engine_gpu(void);
/** Number of StarPU workers of all kinds. */
uint32_t engine_workers(void);
/** Page-locked memory for buffers that tasks allocate and free; NULL if this rank uses no GPU. */
struct pinned_pool *engine_pool(void);

/** The worker that runs the calling task: its number, and its GPU (NULL on a CPU worker). The log
 * of any worker. */
uint32_t worker_number(void);
struct gpu *worker_gpu(void);
struct task_log *worker_log(uint32_t worker);

/** Call function(context) on every GPU worker, on the worker's thread, and wait. */
void engine_on_gpu_workers(void (*function)(void *context), void *context);

/** A number that distinguishes performance models of the same stage, in addition to the amount of
 * work: e.g. for the order of expansions and the instruction set. Below 2^20. */
void engine_set_variant(uint32_t variant);
uint32_t engine_variant(void);

/** Priorities among tasks that are ready at the same time. The file of a stage chooses its
 * priority. */
enum priority { PRIORITY_LOWEST, PRIORITY_LOW, PRIORITY_MIDDLE, PRIORITY_HIGH, PRIORITY_HIGHEST };
/** The priority in the numbers of StarPU's scheduler. @param host_only  no GPU can run the task */
int engine_priority(enum priority priority, bool host_only);

#endif
