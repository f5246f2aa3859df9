/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks for a GPU that are submitted as one. Each submission takes the main thread some microseconds, and so does the
 * begin of each task: where tasks are too short for that, they are a chain. A chain has the slots of all of
 * its tasks, each handle once, and calls their functions in turn, on one stream. */
#ifndef PHOTONS_CODELETS_CHAIN_H
#define PHOTONS_CODELETS_CHAIN_H

#include <starpu.h>
#include <stddef.h>

struct task_chain;

/** A chain without tasks. */
struct task_chain *chain_begin(void);
/** Add a task: task_submit() does so where struct task names a chain.
 * @param argument  cl_arg of the task; the chain frees it */
void chain_add(struct task_chain *c, const struct starpu_codelet *codelet,
               const struct starpu_data_descr *data, size_t count, void *argument);
/** Tasks of a chain. */
size_t chain_length(const struct task_chain *c);
/** The slots of a chain to which no task is added any more. They are as for one task that does what all do: data that the
 * first of the tasks only writes are only written. They have the order in which tasks name their handles first.
 * @param[out] count  their number
 * @return free() it */
struct starpu_data_descr *chain_data(struct task_chain *c, size_t *count);
/** Call the functions of all tasks, on the thread of a CUDA worker. @param buffers  of chain_data() */
void chain_run(const struct task_chain *c, void *buffers[]);
/** @param chain  struct task_chain; may be NULL */
void chain_free(void *chain);

#endif
