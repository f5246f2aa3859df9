/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which this rank's main thread submits tasks and messages and waits for them, with the data of each: what
 * a replay of the task graph needs (photons.replay). Which task waits for which follows from the data, as StarPU
 * keeps the order of submission for each of them. Main thread only; nothing is written unless recording is on,
 * and nothing of what the thread of background.h submits. */
#ifndef PHOTONS_RUNTIME_TASK_GRAPH_H
#define PHOTONS_RUNTIME_TASK_GRAPH_H

#include <starpu.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** What the main thread does. JOB_LOOP: tasks without data, for which it waits. JOB_WAIT: it waits for all that was
 * submitted; JOB_ACQUIRE: for what uses data; JOB_FREE: data are no more. */
enum job_kind { JOB_TASK, JOB_LOOP, JOB_SEND, JOB_RECEIVE, JOB_WAIT, JOB_ACQUIRE, JOB_FREE };

/** A task or another entry: its number, from 1, when the main thread began with it (us), and whether a task is long
 * enough for another GPU than that of its data (owner_computes.h). */
struct job {
  uint64_t number;
  double begin;
  bool lasts;
};

/** Record to a file, which stays the caller's; NULL: stop. */
void task_graph_record(FILE *out);
extern const char task_graph_header[];
/** Begin a job, whether it is recorded or not. */
struct job job_begin(void);
/**
 * The main thread is done with a job.
 * @param name     of the stage, or of the message's kind
 * @param group    of a task, or NO_OWNER; of a message the other rank
 * @param priority of a task (enum priority); of a loop its parts; of a message its tag
 * @param data     [count]
 */
void job_end(struct job job, enum job_kind kind, const char *name, uint32_t group, int64_t priority,
             const struct starpu_data_descr *data, size_t count);
/** The same of a job that has but one piece of data. */
void job_end_data(struct job job, enum job_kind kind, starpu_data_handle_t data,
                  enum starpu_data_access_mode mode);

#endif
