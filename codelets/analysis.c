/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Analysis: loops over parts of the particles, of a mesh or of a catalogue as tasks without data, run while the host holds
 * the particles. Other tasks may run at the same time: a loop waits for its own alone. */
#include "photons/analysis_tasks.h"

#include <pthread.h>
#include <starpu.h>

#include "photons/error.h"
#include "photons/scheduler.h"

struct loop {
  void (*function)(void *context, uint32_t i);
  void *context;
  pthread_mutex_t lock;
  pthread_cond_t done;
  uint32_t left; /* parts that have not ended */
};

struct part {
  struct loop *loop;
  uint32_t i;
};

static void analysis_cpu(void *buffers[], void *arguments) {
  (void)buffers;
  const struct part *part = arguments;
  struct loop *loop = part->loop;
  loop->function(loop->context, part->i);
  pthread_mutex_lock(&loop->lock);
  if (--loop->left == 0) pthread_cond_signal(&loop->done); /* while locked: the loop may be gone as soon as it is not */
  pthread_mutex_unlock(&loop->lock);
}

/** Behind all tasks of the step, to fill its gaps; for heteroprio the processors' bucket, which has no order. */
static int loop_priority(void) {
  enum { BEHIND_ALL = -1 };
  if (scheduler_is_heteroprio()) return scheduler_bucket(0, 0, true);
  const int lowest = starpu_sched_get_min_priority();
  return lowest > BEHIND_ALL ? lowest : BEHIND_ALL;
}

#define ANALYSIS_CODELET(stage, code_colour)                                                              \
  {                                                                                                       \
    .name = stage, .color = code_colour, .cpu_funcs = {analysis_cpu}, .cpu_funcs_name = {"analysis_cpu"}, \
    .nbuffers = 0                                                                                         \
  }

void analysis_for(enum analysis_stage stage, uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  static struct starpu_codelet codelets[] = {[ANALYSIS_FOF] = ANALYSIS_CODELET("fof", 0x332288),
                                             [ANALYSIS_HALOS] = ANALYSIS_CODELET("halos", 0x661100),
                                             [ANALYSIS_POWER] = ANALYSIS_CODELET("power_spectrum", 0x6699cc),
                                             [ANALYSIS_IMAGE] = ANALYSIS_CODELET("image", 0xaa4466),
                                             [ANALYSIS_IC] = ANALYSIS_CODELET("initial_conditions", 0x999933),
                                             [ANALYSIS_FFT] = ANALYSIS_CODELET("mesh_transform", 0xddcc77)};
  if (!starpu_is_initialized() || starpu_cpu_worker_get_count() == 0) {
    for (uint32_t i = 0; i < n; i++) function(context, i);
    return;
  }
  struct loop loop = {.function = function, .context = context, .left = n};
  pthread_mutex_init(&loop.lock, NULL);
  pthread_cond_init(&loop.done, NULL);
  const int priority = loop_priority();
  for (uint32_t i = 0; i < n; i++) {
    struct part *part = allocate(1, sizeof *part, "the arguments of an analysis task"); /* StarPU frees it */
    *part = (struct part){&loop, i};
    if (starpu_task_insert(&codelets[stage], STARPU_CL_ARGS, part, sizeof *part, STARPU_PRIORITY, priority, 0) != 0)
      fail(EXIT_RUN_FAILED, "StarPU could not take a task: no CPU worker");
  }
  pthread_mutex_lock(&loop.lock);
  while (loop.left > 0) pthread_cond_wait(&loop.done, &loop.lock);
  pthread_mutex_unlock(&loop.lock);
  pthread_cond_destroy(&loop.done);
  pthread_mutex_destroy(&loop.lock);
}
