/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Analysis: loops over parts of the particles, of a mesh or of a catalogue as tasks without data, run while the host holds
 * the particles. Other tasks may run at the same time: a loop waits for its own alone. */
#include "photons/runtime/analysis_tasks.h"

#include <pthread.h>
#include <starpu.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/runtime/scheduler.h"

/** A loop at work. Each worker that comes takes one part after the other until none is left: a task a part would cost more than many
 * parts do. Tasks that come late find nothing to do; the last one to leave takes the loop away. */
struct loop {
  void (*function)(void *context, uint32_t i);
  void *context;
  uint32_t parts;
  _Atomic uint32_t next, users; /* part to take; tasks, and who waits */
  pthread_mutex_t lock;
  pthread_cond_t done;
  uint32_t left; /* parts that have not ended */
};

static void leave(struct loop *loop) {
  if (atomic_fetch_sub(&loop->users, 1) > 1) return;
  pthread_cond_destroy(&loop->done);
  pthread_mutex_destroy(&loop->lock);
  free(loop);
}

static void analysis_cpu(void *buffers[], void *arguments) {
  (void)buffers;
  struct loop *loop;
  starpu_codelet_unpack_args(arguments, &loop);
  uint32_t i, ended = 0;
  while ((i = atomic_fetch_add(&loop->next, 1)) < loop->parts) {
    loop->function(loop->context, i);
    ended++;
  }
  pthread_mutex_lock(&loop->lock);
  loop->left -= ended;
  if (loop->left == 0) pthread_cond_signal(&loop->done);
  pthread_mutex_unlock(&loop->lock);
  leave(loop);
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
  const uint32_t workers = starpu_cpu_worker_get_count(), tasks = n < workers ? n : workers;
  if (n == 0) return;
  struct loop *loop = allocate(1, sizeof *loop, "a loop of the analysis");
  loop->function = function;
  loop->context = context;
  loop->parts = loop->left = n;
  atomic_init(&loop->users, tasks + 1);
  pthread_mutex_init(&loop->lock, NULL);
  pthread_cond_init(&loop->done, NULL);
  const int priority = loop_priority();
  for (uint32_t i = 0; i < tasks; i++)
    if (starpu_task_insert(&codelets[stage], STARPU_VALUE, &loop, sizeof loop, STARPU_PRIORITY, priority, 0) != 0)
      fail(EXIT_RUN_FAILED, "StarPU could not take a task: no CPU worker");
  pthread_mutex_lock(&loop->lock);
  while (loop->left > 0) pthread_cond_wait(&loop->done, &loop->lock);
  pthread_mutex_unlock(&loop->lock);
  leave(loop);
}
