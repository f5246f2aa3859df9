/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks and loops in parts: each part runs once, workers without a task take some of them, and the task log has
 * the time of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "codelets/runtime/task.h"
#include "photons/config/parameters.h"
#include "photons/runtime/background.h"
#include "photons/runtime/loop.h"
#include "photons/runtime/parts.h"

enum { PARTS = 40, PART = 2000 /* us */, TASKS = 500 };

struct counts {
  useconds_t time; /* of a part, in us */
  atomic_uint calls[PARTS], inner[PARTS], workers, helped,
      outside; /* outside: calls by other threads */
  atomic_bool waits, ended;
};

static void inner_part(void *context, uint32_t i) {
  atomic_fetch_add(&((struct counts *)context)->inner[i], 1);
}

static void part(void *context, uint32_t i) {
  struct counts *c = context;
  const int worker = starpu_worker_get_id();
  atomic_fetch_add(&c->calls[i], 1);
  if (worker >= 0)
    atomic_fetch_or(&c->workers, 1u << worker);
  else
    atomic_fetch_add(&c->outside, 1);
  parts_run(PARTS, inner_part, c);
  if (c->time > 0) usleep(c->time);
}

struct parted_argument {
  struct counts *counts;
};
static double parted_work(const struct parted_argument *a) { return (double)a->counts->time; }
static void parted_cpu(void *buffers[], const struct parted_argument *a) {
  (void)buffers;
  parts_run(PARTS, part, a->counts);
}
STAGE_ON_CPU(parted, 0x000000, NULL);

LOOP_STAGE(looped, 0x000000);

static void loop_part(void *context, uint32_t i) {
  struct counts *c = context;
  const int worker = starpu_worker_get_id();
  atomic_fetch_add(&c->calls[i], 1);
  if (worker >= 0) atomic_fetch_or(&c->workers, 1u << worker);
  loop_parts(&looped_stage, PARTS, inner_part, c);
  if (c->time > 0) usleep(c->time);
}

/** All but the first i of this loop end at once. */
static void long_first(void *context, uint32_t i) {
  if (i == 0) loop_parts(&looped_stage, PARTS, loop_part, context);
}

/** The second part of this loop waits for the first one, and helps with it. */
static void wait_for_first(void *context, uint32_t i) {
  struct counts *c = context;
  if (i == 0) {
    while (!atomic_load(&c->waits)) usleep(PART);
    loop_parts(&looped_stage, PARTS, loop_part, c);
    atomic_store(&c->ended, true);
  } else {
    atomic_store(&c->waits, true);
    while (!atomic_load(&c->ended)) atomic_fetch_add(&c->helped, loop_help());
  }
}

static void run_loop(void *context) { loop_run(&looped_stage, PARTS, long_first, context); }

static void check(const struct counts *c, unsigned times) {
  for (int i = 0; i < PARTS; i++) {
    assert_int_equal(atomic_load(&c->calls[i]), times);
    assert_int_equal(atomic_load(&c->inner[i]), times * PARTS);
  }
}

static void start(unsigned workers, const char *scheduler) {
  struct parameters p = {.runtime = {.gpu = GPU_NO, .workers = workers}};
  snprintf(p.runtime.scheduler, sizeof p.runtime.scheduler, "%s", scheduler);
  unsetenv("STARPU_NCPU"); /* STARPU_NCPU would take precedence */
  engine_start(&p, NULL);
}

static void submit(struct counts *c) {
  parted_insert((struct parted_argument){c}, (struct task){.priority = PRIORITY_LOW});
}

static void test_without_starpu(void **state) {
  (void)state;
  struct counts c = {0};
  parts_run(PARTS, part, &c);
  check(&c, 1);
}

/* 40 parts of 2 ms: 80 ms of one worker. Both workers' logs together have that time, and each has some. */
static void test_idle_worker_helps(void **state) {
  (void)state;
  struct counts c = {.time = PART};
  struct usage cores, gpus;
  start(2, "lws");
  task_log_begin();
  submit(&c);
  assert_int_equal(starpu_task_wait_for_all(), 0);
  task_log_take(1, &cores, &gpus, NULL, NULL);
  task_log_end();
  engine_stop();
  check(&c, 1);
  assert_int_equal(atomic_load(&c.workers), 3);
  assert_true(cores.busy >= 1e-6 * PART * PARTS);
  assert_true(cores.seconds[parted_stage.number] == cores.busy);
  assert_true(cores.busiest < cores.busy - 1e-6 * PART);
}

/* A worker alone has all parts. */
static void test_one_worker(void **state) {
  (void)state;
  struct counts c = {0};
  start(1, "lws");
  submit(&c);
  assert_int_equal(starpu_task_wait_for_all(), 0);
  engine_stop();
  check(&c, 1);
}

/* Schedulers with performance models are to learn what a task takes without help. */
static void test_models_have_no_help(void **state) {
  (void)state;
  struct counts c = {.time = PART};
  start(2, "dmda");
  submit(&c);
  assert_int_equal(starpu_task_wait_for_all(), 0);
  engine_stop();
  check(&c, 1);
  assert_true(atomic_load(&c.workers) == 1 || atomic_load(&c.workers) == 2);
}

/* Short parts, whose tasks end while helpers look at them. */
static void test_many_tasks(void **state) {
  (void)state;
  struct counts c = {0};
  start(2, "lws");
  for (int i = 0; i < TASKS; i++) {
    if (i % 10 == 0) usleep(500); /* until a worker has no task */
    submit(&c);
  }
  assert_int_equal(starpu_task_wait_for_all(), 0);
  engine_stop();
  check(&c, TASKS);
}

/* The first of the parts of a loop is long: those who have the others help with it, whichever thread has it, and so do they
 * with a loop beside the steps. Under schedulers with performance models, too, which know nothing of loops. */
static void test_long_part_of_a_loop(void **state) {
  (void)state;
  static const char *const schedulers[] = {"lws", "dmda"};
  for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
    struct counts c = {.time = PART}, beside = {.time = PART};
    start(2, schedulers[i]);
    run_loop(&c);
    background_begin(run_loop, &beside);
    background_wait();
    engine_stop();
    check(&c, 1);
    check(&beside, 1);
    assert_int_equal(atomic_load(&c.workers), 3);
    assert_int_equal(atomic_load(&beside.workers), 3);
  }
}

/* The thread that waits helps from within its own part of a loop. */
static void test_who_waits_helps(void **state) {
  (void)state;
  struct counts c = {.time = PART};
  start(1, "lws");
  loop_run(&looped_stage, 2, wait_for_first, &c);
  engine_stop();
  check(&c, 1);
  assert_true(atomic_load(&c.helped) > 0);
}

/* A thread that is no worker has nothing that parts of tasks need, and takes none. */
static void test_parts_of_tasks_are_for_workers(void **state) {
  (void)state;
  struct counts c = {.time = PART};
  start(1, "lws");
  submit(&c);
  while (atomic_load(&c.calls[PARTS - 1]) == 0) assert_false(loop_help());
  assert_int_equal(starpu_task_wait_for_all(), 0);
  engine_stop();
  check(&c, 1);
  assert_int_equal(atomic_load(&c.outside), 0);
}

/* Short parts of a loop, which end while others look at them. */
static void test_many_loops(void **state) {
  (void)state;
  struct counts c = {0};
  start(2, "lws");
  for (int i = 0; i < TASKS; i++) run_loop(&c);
  engine_stop();
  check(&c, TASKS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_without_starpu),
      cmocka_unit_test(test_idle_worker_helps),
      cmocka_unit_test(test_one_worker),
      cmocka_unit_test(test_models_have_no_help),
      cmocka_unit_test(test_many_tasks),
      cmocka_unit_test(test_long_part_of_a_loop),
      cmocka_unit_test(test_many_loops),
      cmocka_unit_test(test_who_waits_helps),
      cmocka_unit_test(test_parts_of_tasks_are_for_workers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
