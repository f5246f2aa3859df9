/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Submission of tasks. */
#include "task.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/task_log.h"

static void task_done(void *argument) {
  const struct task_argument *a = argument;
  task_log_add(a->simulation, a->stage, a->group ? a->group->index : NO_GROUP);
  if (a->last_reader_of) interaction_list_free(a->last_reader_of);
}

void task_submit(struct starpu_codelet *codelet, struct task_argument argument, const struct starpu_data_descr *data,
                 size_t count, enum priority priority) {
  struct task_argument *copy = malloc(sizeof *copy); /* StarPU frees it with the task */
  if (!copy) fail(EXIT_RUN_FAILED, "no memory for the arguments of a %s task", codelet->name);
  *copy = argument;
  copy->stage = stage_named(codelet->name);
  int rank = (int)priority;
  if (argument.simulation->heteroprio) rank = scheduler_bucket(rank, PRIORITY_REFIT, !(codelet->cuda_funcs[0]));
  int status = starpu_task_insert(codelet, STARPU_DATA_MODE_ARRAY, data, (int)count, STARPU_CL_ARGS, copy, sizeof *copy,
                                  STARPU_PRIORITY, rank, STARPU_CALLBACK_WITH_ARG_NFREE, task_done, copy, 0);
  if (status != 0)
    fail(EXIT_RUN_FAILED, "StarPU could not take a %s task (error %d): no worker can run it", codelet->name, status);
}

struct worker *task_worker(const struct task_argument *argument) {
  return &argument->simulation->workers[starpu_worker_get_id_check()];
}

uint32_t work_footprint(double work) { return (uint32_t)lround(log(fmax(work, 1.0)) / log(1.15)); }

/* parallel_for: tasks without data, for the host's own work between graphs; of many kinds, hence without a performance model. */
struct loop_body {
  struct simulation *simulation;
  enum stage stage;
  void (*function)(void *, uint32_t);
  void *context;
  uint32_t i;
};

static void loop_cpu(void *buffers[], void *arguments) {
  (void)buffers;
  const struct loop_body *body = arguments;
  body->function(body->context, body->i);
}

static void loop_done(void *argument) {
  const struct loop_body *body = argument;
  task_log_add(body->simulation, body->stage, NO_GROUP);
}

static struct starpu_codelet loop_codelet = {
    .name = "rebuild", .color = 0x808080, .cpu_funcs = {loop_cpu}, .cpu_funcs_name = {"loop_cpu"}, .nbuffers = 0};

void parallel_for(struct simulation *s, enum stage stage, uint32_t n, void (*function)(void *, uint32_t),
                  void *context) {
  for (uint32_t i = 0; i < n; i++) {
    struct loop_body *body = allocate(1, sizeof *body, "loop arguments");
    *body = (struct loop_body){s, stage, function, context, i};
    if (starpu_task_insert(&loop_codelet, STARPU_CL_ARGS, body, sizeof *body, STARPU_CALLBACK_WITH_ARG_NFREE, loop_done,
                           body, 0) != 0)
      fail(EXIT_RUN_FAILED, "StarPU could not take a task: no CPU worker");
  }
  starpu_task_wait_for_all();
}
