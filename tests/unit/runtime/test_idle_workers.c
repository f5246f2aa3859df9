/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workers without a task cost: no lock that they share, and little time of their cores. Time itself
 * does not show such locks on few cores, so that they are counted. */
/* for RTLD_NEXT */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "photons/runtime/idle_workers.h"

enum { WORKERS = 2, IDLE = 500000 /* us */ };

/* Read-write locks that StarPU takes; this function stands in the place of the library's. */
static atomic_ulong read_locks;
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  static int (*next)(pthread_rwlock_t *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_rwlock_rdlock");
  atomic_fetch_add(&read_locks, 1);
  return next(lock);
}

static const struct starpu_sched_policy *policy_named(const char *name) {
  struct starpu_sched_policy **policy = starpu_sched_get_predefined_policies();
  while (strcmp((*policy)->policy_name, name) != 0) policy++;
  return *policy;
}

static void start(const char *scheduler, unsigned awake) {
  struct starpu_conf conf;
  starpu_conf_init(&conf);
  unsetenv("STARPU_NCPU"); /* STARPU_NCPU would take precedence */
  conf.sched_policy = idle_workers_policy(policy_named(scheduler), awake, false);
  conf.ncpus = WORKERS;
  conf.ncuda = 0;
  assert_int_equal(starpu_init(&conf), 0);
}

static double cpu_seconds(void) {
  struct timespec time;
  assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static unsigned nothing(void *unused) {
  (void)unused;
  return 1;
}

/** Locks that workers take while they have no task. */
static unsigned long locks_of_idle_workers(void) {
  const unsigned long before = atomic_load(&read_locks);
  usleep(IDLE);
  return atomic_load(&read_locks) - before;
}

/* An idle hook of StarPU is what the policy replaces: with one each look for a task takes 16 locks. */
static void test_no_shared_lock(void **state) {
  (void)state;
  start("lws", WORKERS);
  assert_int_equal(locks_of_idle_workers(), 0);
  const int hook = starpu_idle_hook_register(nothing, NULL);
  assert_true(locks_of_idle_workers() > 1000);
  starpu_idle_hook_deregister(hook);
  starpu_shutdown();
}

/* Two workers that poll would take a second together where two cores are free. Those that rest look a
 * thousand times a second each, some 20 us a time. */
static void test_sleep(void **state) {
  (void)state;
  static const char *const schedulers[] = {"lws", "prio", "heteroprio", "random"};
  for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
    start(schedulers[i], 0);
    usleep(IDLE / 5);
    const double before = cpu_seconds();
    usleep(IDLE);
    assert_true(cpu_seconds() - before < 0.1 * 1e-6 * IDLE * WORKERS);
    starpu_shutdown();
  }
}

static atomic_int done;
static void count_task(void *buffers[], void *arguments) {
  (void)buffers;
  (void)arguments;
  atomic_fetch_add(&done, 1);
}

/* Workers that sleep take all tasks nevertheless. */
static void test_tasks(void **state) {
  (void)state;
  static struct starpu_codelet counting = {
      .cpu_funcs = {count_task}, .cpu_funcs_name = {"count_task"}, .name = "counting"};
  enum { TASKS = 200 };
  start("lws", 0);
  for (int i = 0; i < TASKS; i++) {
    if (i % 20 == 0) usleep(10000); /* until they sleep */
    assert_int_equal(starpu_task_insert(&counting, 0), 0);
  }
  assert_int_equal(starpu_task_wait_for_all(), 0);
  assert_int_equal(atomic_load(&done), TASKS);
  starpu_shutdown();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_shared_lock),
      cmocka_unit_test(test_sleep),
      cmocka_unit_test(test_tasks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
