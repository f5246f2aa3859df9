/* SPDX-License-Identifier: GPL-3.0-or-later */
/* StarPU's configuration: workers, GPUs and the scheduler. */
#ifndef PHOTONS_SCHEDULER_H
#define PHOTONS_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct parameters;
struct starpu_conf;

/** Check STARPU_SCHED, STARPU_NCPU and runtime.workers: what cannot be ends the program, what slows
 * it down is a warning. Before StarPU starts. @return workers on processor cores */
long scheduler_check(const struct parameters *p);
/** Workers on processor cores of all ranks, for a forecast: those that are asked for, or else about as many as
 * StarPU will take. The number of this rank's stands for that of each. */
double scheduler_workers_foreseen(const struct parameters *p);
/**
 * Fill in StarPU's configuration from the parameters, before starpu_init(). The user's STARPU_*
 * environment variables take precedence. Default scheduler: lws on CPUs, heteroprio with GPUs (our
 * buckets: see map_buckets() in scheduler.c), owner-computes with several GPUs (owner_computes.h). Ends the program (EXIT_BAD_USAGE) if there is no GPU
 * but runtime.gpu = require.
 */
void scheduler_configure(struct starpu_conf *conf, const struct parameters *p);

/** Streams per GPU, each with a StarPU worker thread: 4, or 2 where this rank has fewer than 8 cores for each of its
 * GPUs. STARPU_NWORKER_PER_CUDA overrides the number; schedulers that use performance models take one stream. */
int scheduler_streams(void);

/** Before starpu_init(): find out whether any rank will use GPUs. Collective. */
void scheduler_foresee(const struct parameters *p);
/** After starpu_init(): find out whether any rank uses GPUs. Collective. */
void scheduler_started(void);
/** Whether any rank uses GPUs, as the last of these two functions found. Decisions that all ranks must
 * make alike depend on this and not on the rank's own GPUs, because a job may mix nodes with and
 * without GPUs. */
bool scheduler_any_gpu(void);

/** Whether the scheduler is heteroprio, for which a lower number means a higher priority. After
 * starpu_init(). */
bool scheduler_is_heteroprio(void);

/**
 * CUDA device numbers of the GPUs in use, or, before starpu_init(), of all GPUs present.
 * @param device  [STARPU_NMAXWORKERS] on return: the numbers
 * @return number of GPUs
 */
uint32_t scheduler_gpus(int *device);
/** Bytes that this rank's data can take in the memory of GPUs; 0 without a GPU. */
double scheduler_gpu_memory(void);
/** Print names and memory of the GPUs, as "2 NVIDIA H200 (150 GB)", or "none". */
void scheduler_print_gpus(FILE *out);

/** The heteroprio bucket for a priority. Tasks that only CPUs can run are in bucket 0, as are tasks
 * without a priority. */
int scheduler_bucket(int priority, int most_urgent, bool host_only);

#endif
