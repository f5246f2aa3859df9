/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who did what when: every task leaves a record with the worker that ran it, from which the times of stages, groups and devices follow. */
#ifndef PHOTONS_TASK_LOG_H
#define PHOTONS_TASK_LOG_H

#include <stdio.h>

#include "photons/domain/simulation.h"

/** The time of one kind of device, cores or GPUs, of this process. Streams of a GPU share its time: what runs alone in a span gets all of
 * it, what runs beside n - 1 others an n-th. */
struct usage {
  uint32_t units;         /**< cores or GPUs */
  double seconds[STAGES]; /**< summed over the units */
  double busy, busiest;   /**< all units, and the one that has most */
};

/** As it stands in logs and is called by its codelet. */
const char *stage_name(enum stage stage);
/** The stage of that name; STAGES: none. */
enum stage stage_named(const char *name);

/** From now on tasks are recorded (StarPU's profiling is on); and no longer. */
void task_log_begin(struct simulation *s);
void task_log_end(struct simulation *s);

/** A task has ended: called from StarPU's callback of that task. @param group  its index, or NO_GROUP */
void task_log_add(struct simulation *s, enum stage stage, uint32_t group);

/**
 * Sum up and forget what was recorded. No task may be running. Adds to every group's `seconds`: those on cores, and those on GPUs times
 * the cores that this process has for each GPU, so that where both are equally busy either counts as much.
 * @param rows  where not NULL: the records of step `step` as lines of CSV, see task_log_header()
 */
void task_log_take(struct simulation *s, int64_t step, struct usage *cores, struct usage *gpus, FILE *rows);
/** Names of the columns that task_log_take() writes. */
extern const char task_log_header[];

#endif
