/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log of tasks: every task of a step leaves a record in the log of the worker that ran the task.
 * The times of stages, devices and groups are computed from these records. */
#ifndef PHOTONS_RUNTIME_TASK_LOG_H
#define PHOTONS_RUNTIME_TASK_LOG_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "photons/runtime/stage.h"

/** A finished task. Times are in seconds: when the task was submitted, when a worker began and
 * ended it, and the duration that its performance model had predicted (NAN: no prediction). */
struct task_record {
  double submit, start, end, predicted;
  uint32_t owner; /**< index of the group that the task worked on, or NO_OWNER */
  const struct stage *stage;
  uint64_t job; /**< number in the task graph (task_graph.h); 0: a part of another worker's task */
};
#define NO_OWNER UINT32_MAX

/** Records of one worker since the last task_log_take(). */
struct task_log {
  struct task_record *record;
  size_t count, capacity;
};

/** Time used on this rank's devices of one kind, cores or GPUs. The streams of a GPU divide its
 * time: of a time span in which n tasks run, each task counts for an n-th. */
struct usage {
  uint32_t units;              /**< cores or GPUs */
  double seconds[STAGES_MOST]; /**< [stage number] summed over the units */
  double busy, busiest;        /**< summed over the units, and of the busiest unit */
};

/** The share of so many seconds in which the units did not work; NAN if there are none. */
static inline double usage_idle_share(const struct usage *u, double wall) {
  return u->units ? fmax(1.0 - u->busy / (u->units * wall), 0.0) : NAN;
}
/** Print that share as a field of a table, which is empty if there are no units. */
static inline void usage_print_idle_share(const struct usage *u, double wall, FILE *out) {
  fprintf(out, u->units ? ",%.4g" : ",", usage_idle_share(u, wall));
}
/** How much longer the busiest of the units worked than their mean. */
static inline double usage_imbalance(const struct usage *u) {
  return u->busy > 0.0 ? u->busiest * u->units / u->busy - 1.0 : 0.0;
}

/** The time of tasks by the group that they worked on. */
struct owner_seconds {
  double *seconds;       /**< [count] */
  uint32_t first, count; /**< groups; others are left out */
};

/** Begin recording tasks, which turns on StarPU's profiling; and end it. */
void task_log_begin(void);
void task_log_end(void);

/**
 * Record the task that has ended; called in StarPU's callback of that task.
 * @param owner  index of the task's group, or NO_OWNER
 * @param job    its number in the task graph
 */
void task_log_add(const struct stage *stage, uint32_t owner, uint64_t job);

/**
 * Record what the calling worker did of another worker's task, from `start` to `end` in seconds of
 * starpu_timing_now().
 */
void task_log_add_part(const struct stage *stage, uint32_t owner, double start, double end);

/**
 * Sum up the records and empty the logs. No task may be running.
 * @param step           number of the step, for the rows
 * @param rows           NULL, or the file to which the records are written as lines of CSV, see
 *         task_log_header
 * @param[in,out] owners  NULL, or where each task's time is added to its owner's. Time on
 *         a GPU is multiplied by the number of this rank's cores per GPU, so that both kinds of
 *         device have the same weight if they are equally busy
 */
void task_log_take(int64_t step, struct usage *cores, struct usage *gpus, FILE *rows,
                   const struct owner_seconds *owners);
/** Records of tasks that have ended have no owner any more: groups get other numbers. No task may be
 * running. */
void task_log_forget_owners(void);
/** Names of the columns that task_log_take() writes. */
extern const char task_log_header[];
/** Write a table of all stages, with name, family and colour (#rrggbb), as lines of CSV. Tools that
 * draw pictures read it. */
void task_log_write_stages(FILE *out);

#endif
