/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who did what when: every task of a step leaves a record in the log of the worker that ran it. The
 * times of stages, devices and groups follow from these records. */
#ifndef PHOTONS_RUNTIME_TASK_LOG_H
#define PHOTONS_RUNTIME_TASK_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "photons/runtime/stage.h"

/** A finished task. Times in seconds: when it was submitted, when a worker began and ended it, and
 * how long its performance model had said that it would take (NAN: no prediction). */
struct task_record {
  double submit, start, end, predicted;
  uint32_t owner; /**< index of the group that it worked for, or NO_OWNER */
  const struct stage *stage;
};
#define NO_OWNER UINT32_MAX

/** Records of one worker since task_log_take(). */
struct task_log {
  struct task_record *record;
  size_t count, capacity;
};

/** The time of one kind of device, cores or GPUs, of this process. Streams of a GPU share its time:
 * what runs alone in a span gets all of it, what runs beside n - 1 others an n-th. */
struct usage {
  uint32_t units;              /**< cores or GPUs */
  double seconds[STAGES_MOST]; /**< by number of the stage, summed over the units */
  double busy, busiest;        /**< all units, and the unit that has most */
};

/** From now on tasks are recorded (StarPU's profiling is on); and no longer. */
void task_log_begin(void);
void task_log_end(void);
void task_log_free(struct task_log *log);

/** A task has ended. From StarPU's callback of that task. @param owner  of the task, or NO_OWNER */
void task_log_add(const struct stage *stage, uint32_t owner);

/**
 * Sum up and forget what was recorded. No task may be running.
 * @param step           for the rows
 * @param rows           where not NULL: the records as lines of CSV, see task_log_header
 * @param[in,out] owner_seconds  where not NULL: each task's time is added to its owner's; time on
 *        GPUs counts times the cores that this process has for each GPU, so that where both kinds of
 *        device are equally busy either counts as much
 */
void task_log_take(int64_t step, struct usage *cores, struct usage *gpus, FILE *rows,
                   double *owner_seconds);
/** Names of the columns that task_log_take() writes. */
extern const char task_log_header[];
/** Write a table of all stages, name, family and colour (#rrggbb), for pictures: lines of CSV. */
void task_log_write_stages(FILE *out);

#endif
