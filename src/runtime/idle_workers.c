/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/idle_workers.h"

#include <sched.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "photons/runtime/background.h"
#include "photons/runtime/offers.h"

/* A sleep takes its share of the time without a task; microseconds. Shorter sleeps than the least take
 * longer than asked for: the kernel's timers have a slack of 50 us. */
enum { SHARE = 8, SLEEP_LEAST = 50, SLEEP_MOST = 1000 };

struct worker {
  double idle_since; /* by starpu_timing_now(), in us */
  double looked;     /* when it looked for a task last */
  unsigned order;    /* of its first look among the CPU workers, from 1; 0: no look yet */
  bool idle;         /* its last look found no task */
  char padding[40];  /* a cache line each */
};

static struct {
  struct starpu_sched_policy policy;
  struct starpu_task *(*pop_task)(unsigned);
  unsigned awake;
  bool crowded, helps;
  atomic_uint workers; /* CPU workers that have looked */
  atomic_uint now;     /* CPU workers that are idle */
  struct worker worker[STARPU_NMAXWORKERS];
} idle;

/** Others may change the state of this worker meanwhile, as at a lock of the scheduler. */
static void sleep_for(double microseconds) {
  const struct timespec time = {.tv_nsec = (long)(1000.0 * microseconds)};
  starpu_worker_relax_on();
  nanosleep(&time, NULL);
  starpu_worker_relax_off();
}

/** Nothing was found. A worker that has not looked for a while had a task, maybe one that the scheduler
 * had put in the worker's own list. */
static void rest(struct worker *worker) {
  if (worker->order == 0) worker->order = atomic_fetch_add(&idle.workers, 1) + 1;
  if (worker->order <= idle.awake) return;
  const double now = starpu_timing_now(), share = (now - worker->idle_since) / SHARE;
  if (now - worker->looked > SLEEP_LEAST)
    worker->idle_since = now;
  else if (share >= SLEEP_LEAST)
    sleep_for(share < SLEEP_MOST ? share : SLEEP_MOST);
  worker->looked = starpu_timing_now();
}

static void note(struct worker *worker, bool is_idle) {
  if (worker->idle == is_idle) return;
  worker->idle = is_idle;
  if (is_idle)
    atomic_fetch_add(&idle.now, 1);
  else
    atomic_fetch_sub(&idle.now, 1);
}

bool idle_workers_help_tasks(void) { return idle.helps && !idle.crowded; }

unsigned idle_workers_now(void) { return idle_workers_help_tasks() ? atomic_load(&idle.now) : 0; }

/** Schedulers that give tasks to workers themselves, as random does, have no pop_task(). */
static struct starpu_task *pop_task(unsigned context) {
  struct starpu_task *task = idle.pop_task ? idle.pop_task(context) : NULL;
  const int number = starpu_worker_get_id();
  if (starpu_worker_get_type(number) != STARPU_CPU_WORKER) return task;
  note(&idle.worker[number], !task);
  if (task) {
    idle.worker[number].looked = 0.0;
    return task;
  }
  if (background_help() || offers_help())
    idle.worker[number].looked = 0.0;
  else if (idle.crowded)
    sched_yield();
  else
    rest(&idle.worker[number]);
  return NULL;
}

struct starpu_sched_policy *idle_workers_policy(const struct starpu_sched_policy *policy,
                                                unsigned awake, bool crowded) {
  memset(&idle, 0, sizeof idle);
  idle.policy = *policy;
  idle.awake = awake;
  idle.pop_task = policy->pop_task;
  idle.policy.pop_task = pop_task;
  idle.crowded = crowded;
  idle.helps = strncmp(policy->policy_name, "dm", 2) != 0;
  return &idle.policy;
}
