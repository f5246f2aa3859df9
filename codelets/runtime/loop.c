/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop over independent parts as StarPU tasks on all CPU workers, and on the thread that waits for it. */
#include "photons/runtime/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/runtime/background.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/offers.h"
#include "photons/runtime/scheduler.h"
#include "photons/runtime/task_graph.h"
#include "photons/runtime/task_log.h"

/** The state of a loop. A task for every i would cost more than many of the functions, so each
 * worker gets one task. Tasks that start late find nothing to do. The last user frees the loop. */
struct loop {
  const struct stage *stage;
  void (*function)(void *context, uint32_t i);
  void *context;
  uint32_t n;
  struct job job;
  /* next: the next i to take; users: the tasks that were submitted, plus the waiting thread, that still use the loop */
  _Atomic uint32_t next, users;
  pthread_mutex_t lock;
  pthread_cond_t done;
  uint32_t left; /* number of i that have not ended */
};

static void leave(struct loop *loop) {
  if (atomic_fetch_sub(&loop->users, 1) > 1) return;
  pthread_cond_destroy(&loop->done);
  pthread_mutex_destroy(&loop->lock);
  free(loop);
}

/** Take one i after the other until none is left. */
static void work(struct loop *loop) {
  uint32_t i, ended = 0;
  while ((i = atomic_fetch_add(&loop->next, 1)) < loop->n) {
    loop->function(loop->context, i);
    ended++;
  }
  pthread_mutex_lock(&loop->lock);
  loop->left -= ended;
  if (loop->left == 0) pthread_cond_signal(&loop->done);
  pthread_mutex_unlock(&loop->lock);
}

void loop_on_cpu(void *buffers[], void *arguments) {
  (void)buffers;
  struct loop *loop;
  starpu_codelet_unpack_args(arguments, &loop);
  work(loop);
}

/** StarPU's callback at the end of a task; the last callback may free the loop. */
static void task_ended(void *argument) {
  struct loop *loop = argument;
  if (!loop->stage->untimed) task_log_add(loop->stage, NO_OWNER, loop->job.number);
  leave(loop);
}

/** A priority below that of all tasks of a step, so that loops fill gaps. In heteroprio's bucket
 * for CPUs all tasks have equal priority. */
static int loop_priority(void) {
  enum { BEHIND_ALL = -1 };
  if (scheduler_is_heteroprio()) return scheduler_bucket(0, 0, true);
  const int lowest = starpu_sched_get_min_priority();
  return lowest > BEHIND_ALL ? lowest : BEHIND_ALL;
}

void loop_run(struct stage *stage, uint32_t n, void (*function)(void *context, uint32_t i),
              void *context) {
  if (background_here()) {
    background_loop(n, function, context);
    return;
  }
  if (!starpu_is_initialized() || starpu_cpu_worker_get_count() == 0) {
    for (uint32_t i = 0; i < n; i++) function(context, i);
    return;
  }
  if (n == 0) return;
  const uint32_t workers = starpu_cpu_worker_get_count(), tasks = n <= workers ? n - 1 : workers;
  struct loop *loop = allocate(1, sizeof *loop, "a loop");
  loop->stage = stage;
  loop->function = function;
  loop->context = context;
  loop->n = loop->left = n;
  loop->job = job_begin();
  atomic_init(&loop->users, 1);
  pthread_mutex_init(&loop->lock, NULL);
  pthread_cond_init(&loop->done, NULL);
  const int priority = loop_priority();
  /* The first tasks may end a short loop: the others would find nothing. */
  for (uint32_t i = 0; i < tasks && loop->next < n; i++) {
    atomic_fetch_add(&loop->users, 1);
    if (starpu_task_insert(stage->codelet, STARPU_VALUE, &loop, sizeof loop, STARPU_PRIORITY,
                           priority, STARPU_CALLBACK_WITH_ARG_NFREE, task_ended, loop, 0) != 0)
      fail(EXIT_RUN_FAILED,
           "StarPU refused a task of the loop %s: it has no CPU worker; check STARPU_NCPU",
           stage_name(stage));
  }
  work(loop); /* workers that rest take some time to find the tasks of a short loop */
  pthread_mutex_lock(&loop->lock);
  while (loop->left > 0) pthread_cond_wait(&loop->done, &loop->lock);
  pthread_mutex_unlock(&loop->lock);
  job_end(loop->job, JOB_LOOP, stage_name(stage), NO_OWNER, n, NULL, 0);
  leave(loop);
}

/** What a thread has in loop_parts(). */
struct loop_offer {
  struct parts parts; /* first */
  const struct stage *stage;
};

static void log_help(const struct parts *parts, double start, double end) {
  const struct loop_offer *offer = (const struct loop_offer *)parts;
  if (!offer->stage->untimed && starpu_worker_get_id() >= 0)
    task_log_add_part(offer->stage, NO_OWNER, 1e-6 * start, 1e-6 * end);
}

void loop_parts(const struct stage *stage, uint32_t n, void (*function)(void *context, uint32_t j),
                void *context) {
  struct loop_offer offer = {.parts = {.function = function,
                                       .context = context,
                                       .n = n,
                                       .of_loop = true,
                                       .beside = background_works(),
                                       .helped = log_help},
                             .stage = stage};
  if (n > 1)
    offer_parts(&offer.parts);
  else
    (void)parts_take(&offer.parts);
}

bool loop_help(void) { return starpu_is_initialized() && offers_help(); }
