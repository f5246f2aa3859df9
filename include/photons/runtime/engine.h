/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU as this program uses it: its start and end, its workers, and what a worker keeps between
 * tasks. StarPU is one per process, and so is this state. */
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
 * Start StarPU as the section [runtime] of the parameters and the user's STARPU_* settings ask for.
 * Collective: ranks of one host share its cores and GPUs (host_share.h). Ends the program where
 * StarPU does not start, has no CPU worker, or lacks a GPU that runtime.gpu = require wants.
 * @param trace  prepared here, before StarPU starts; NULL: no traces
 */
void engine_start(const struct parameters *p, struct trace *trace);
/** All tasks done; every handle unregistered. */
void engine_stop(void);

/** Whether this rank uses GPUs. Whether any rank does is scheduler_any_gpu(). */
bool engine_gpu(void);
/** StarPU's workers of all kinds. */
uint32_t engine_workers(void);
/** Page-locked memory for what comes and goes with tasks; NULL where this rank uses no GPU. */
struct pinned_pool *engine_pool(void);

/** Number of the worker that runs the calling task; its GPU (NULL on a core), and its log. */
uint32_t worker_number(void);
struct gpu *worker_gpu(void);
struct task_log *worker_log(uint32_t worker);

/** Call function(context) on every worker that is a GPU's, on its own thread, and wait. */
void engine_on_gpu_workers(void (*function)(void *context), void *context);

/** What tells performance models of the same stage apart beside the amount of work, e.g. the order
 * of expansions and the instruction set; below 2^20. */
void engine_set_variant(uint32_t variant);
uint32_t engine_variant(void);

/** Priorities of tasks that are ready at the same time; the stages' files say which has which. */
enum priority { PRIORITY_LOWEST, PRIORITY_LOW, PRIORITY_MIDDLE, PRIORITY_HIGH, PRIORITY_HIGHEST };
/** That priority as StarPU's scheduler has it. @param host_only  no GPU can run the task */
int engine_priority(enum priority priority, bool host_only);

#endif
