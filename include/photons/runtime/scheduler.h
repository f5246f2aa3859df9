/* How StarPU is started: workers, GPUs and the scheduler. */
#ifndef PHOTONS_SCHEDULER_H
#define PHOTONS_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct parameters;
struct starpu_conf;

/** Check STARPU_SCHED, STARPU_NCPU and runtime.workers: what cannot be ends the program, what slows it
 * down is a warning. Before StarPU starts. @return workers on processor cores */
long scheduler_check(const struct parameters *p);
/**
 * Fill in what the parameters ask for, before starpu_init(). The user's STARPU_* settings win over it.
 * Without a GPU the default scheduler is lws, with one heteroprio, whose buckets are ours.
 */
void scheduler_configure(struct starpu_conf *conf, const struct parameters *p);

/** Streams of a GPU, each with a thread of StarPU's, unless STARPU_NWORKER_PER_CUDA says otherwise or the scheduler goes by models. */
int scheduler_streams(void);

/** After starpu_init(), by all processes: learn whether any of them uses GPUs. */
void scheduler_started(void);
/** Does any process use GPUs? What all must decide alike goes by this: on mixed nodes some have none. */
bool scheduler_any_gpu(void);

/** Does a lower number mean more urgent, as it does to heteroprio? After starpu_init(). */
bool scheduler_is_heteroprio(void);

/** CUDA's numbers of the GPUs in use, or before starpu_init() of all that are present. @param device  room for STARPU_NMAXWORKERS */
uint32_t scheduler_gpus(int *device);
/** Their names and memory, as "2 NVIDIA H200 (150 GB)", or "none". */
void scheduler_print_gpus(FILE *out);

/** The bucket of heteroprio for a priority: what only processors can do has bucket 0, as have tasks of no priority. */
int scheduler_bucket(int priority, int most_urgent, bool host_only);

#endif
