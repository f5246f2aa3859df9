/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Submission of tasks, and what happens when they end. */
#include "codelets/runtime/task.h"

#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/chain.h"
#include "photons/base/error.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/task_graph.h"
#include "photons/runtime/task_log.h"

/** The cl_arg of every task: this header, followed by the argument of the task's stage. */
struct header {
  const struct stage *stage;
  uint32_t owner;
  uint64_t job;
  void (*ended)(void *context);
  void *context;
  alignas(max_align_t) char argument[];
};

const void *task_argument(const void *cl_arg) { return ((const struct header *)cl_arg)->argument; }

static void task_ended(void *cl_arg) {
  const struct header *h = cl_arg;
  if (!h->stage->untimed) task_log_add(h->stage, h->owner, h->job);
  if (h->ended) h->ended(h->context);
}

const struct stage *task_stage(uint32_t *owner) {
  const struct starpu_task *task = starpu_task_get_current();
  if (!task || task->callback_func != task_ended) return NULL;
  const struct header *h = task->cl_arg;
  *owner = h->owner;
  return h->stage;
}

/** What the scheduler of several GPUs is to know of a task. */
static void *mark_of(const struct task *task) {
  if (owner_count() == 0) return NULL;
  return task->lasting ? owner_lasting : NULL;
}

void task_submit(const struct stage *stage, const struct task *task, const void *argument,
                 size_t bytes) {
  struct header *h = allocate(1, sizeof *h + bytes, stage_name(stage)); /* StarPU frees it */
  const uint32_t owner = task->owner ? *task->owner : NO_OWNER;
  memcpy(h->argument, argument, bytes);
  if (task->chain) {
    chain_add(task->chain, stage->codelet, task->data, task->count, h);
    return;
  }
  struct job job = job_begin();
  job.lasts = task->lasting;
  h->stage = stage;
  h->owner = owner;
  h->job = job.number;
  h->ended = task->ended;
  h->context = task->context;
  const int priority = engine_priority(task->priority, !stage->codelet->cuda_funcs[0]);
  const int status = starpu_task_insert(
      stage->codelet, STARPU_DATA_MODE_ARRAY, task->data, (int)task->count, STARPU_CL_ARGS, h,
      sizeof *h + bytes, STARPU_PRIORITY, priority, STARPU_TASK_SCHED_DATA, mark_of(task),
      STARPU_CALLBACK_WITH_ARG_NFREE, task_ended, h, 0);
  if (status != 0)
    fail(EXIT_RUN_FAILED, "StarPU refused a %s task (error %d): no worker can run it",
         stage_name(stage), status);
  job_end(job, JOB_TASK, stage_name(stage), owner, (int64_t)task->priority, task->data,
          task->count);
}

uint32_t task_footprint(double work) {
  return (uint32_t)lround(log(fmax(work, 1.0)) / log(1.15)) + (engine_variant() << 12);
}
