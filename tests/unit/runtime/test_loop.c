/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops while other tasks run. */
#include <setjmp.h>
#include <starpu.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "photons/runtime/loop.h"

LOOP_STAGE(counting, 0x000000, .untimed = true);

enum { PARTS = 1000, WORKERS = 2 };

static atomic_bool released;

/** A task of another part of the program: it ends when told to. */
static void wait_cpu(void *buffers[], void *arguments) {
  (void)buffers;
  (void)arguments;
  while (!atomic_load(&released)) usleep(100);
}

static void count_part(void *context, uint32_t i) {
  atomic_fetch_add(&((atomic_int *)context)[i], 1);
}

static void check_loop(void) {
  static atomic_int calls[PARTS];
  for (uint32_t i = 0; i < PARTS; i++) atomic_store(&calls[i], 0);
  loop_run(&counting_stage, PARTS, count_part, calls);
  for (uint32_t i = 0; i < PARTS; i++) assert_int_equal(atomic_load(&calls[i]), 1);
  loop_run(&counting_stage, 0, count_part, calls);
}

/* A loop returns when its own parts have ended, even while other tasks have all workers: otherwise this test
 * would never end. */
static void test_others_run_on(void **state) {
  (void)state;
  static struct starpu_codelet waiting = {
      .cpu_funcs = {wait_cpu}, .cpu_funcs_name = {"wait_cpu"}, .name = "waiting"};
  static const char *const schedulers[] = {"lws", "prio",
                                           /* heteroprio's workers do not keep tasks to
                                            * themselves */
                                           "heteroprio"};
  for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    unsetenv("STARPU_NCPU"); /* STARPU_NCPU would take precedence */
    conf.sched_policy_name = schedulers[i];
    conf.ncpus = WORKERS;
    conf.ncuda = 0;
    assert_int_equal(starpu_init(&conf), 0);
    atomic_store(&released, false);
    for (int k = 0; k < WORKERS; k++) assert_int_equal(starpu_task_insert(&waiting, 0), 0);
    alarm(30);
    check_loop();
    alarm(0);
    assert_true(starpu_task_nsubmitted() > 0); /* the other tasks are still there */
    atomic_store(&released, true);
    starpu_task_wait_for_all();
    starpu_shutdown();
  }
}

static void test_without_starpu(void **state) {
  (void)state;
  check_loop();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_starpu),
                                     cmocka_unit_test(test_others_run_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
