/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chains of tasks: each handle is one slot, whose access is that of all tasks together, and each task gets its own
 * buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "codelets/runtime/chain.h"
#include "photons/base/error.h"

#include <cmocka.h>

enum { TASKS = 3, SLOTS = 3, HANDLES = 5, ONLY_READ = 0, CHANGED, MADE, READ_THEN_MADE, OF_LAST };

/* Chains compare handles, and do not look at them. */
static char handles[HANDLES];
static starpu_data_handle_t handle(int i) { return (starpu_data_handle_t)(void *)&handles[i]; }

/** What the functions of the tasks got. */
static void *got[TASKS][SLOTS];
static int calls;

static void note(void *buffers[], void *argument) {
  const int task = *(const int *)argument;
  assert_int_equal(task, calls);
  calls++;
  for (int i = 0; i < SLOTS; i++) got[task][i] = buffers[i];
}

static const struct starpu_codelet codelet = {.name = "note", .cuda_funcs = {note}};

static const struct {
  int handle;
  enum starpu_data_access_mode mode;
} uses[TASKS][SLOTS] = {{{MADE, STARPU_W}, {ONLY_READ, STARPU_R}, {READ_THEN_MADE, STARPU_R}},
                        {{CHANGED, STARPU_RW}, {MADE, STARPU_R}, {ONLY_READ, STARPU_R}},
                        {{READ_THEN_MADE, STARPU_W}, {OF_LAST, STARPU_R}, {MADE, STARPU_RW}}};
static const enum starpu_data_access_mode expected[HANDLES] = {[ONLY_READ] = STARPU_R,
                                                               [CHANGED] = STARPU_RW,
                                                               [MADE] = STARPU_W,
                                                               [READ_THEN_MADE] = STARPU_RW,
                                                               [OF_LAST] = STARPU_R};

static struct task_chain *make_chain(void) {
  struct task_chain *c = chain_begin();
  for (int task = 0; task < TASKS; task++) {
    struct starpu_data_descr data[SLOTS];
    int *argument = allocate(1, sizeof *argument, "task data");
    *argument = task;
    for (int i = 0; i < SLOTS; i++)
      data[i] = (struct starpu_data_descr){handle(uses[task][i].handle), uses[task][i].mode};
    chain_add(c, &codelet, data, SLOTS, argument);
  }
  return c;
}

static void tasks_share_slots(void **state) {
  (void)state;
  struct task_chain *c = make_chain();
  static const int order[] = {MADE, ONLY_READ, READ_THEN_MADE, CHANGED, OF_LAST};
  void *buffers[HANDLES], *of[HANDLES];
  size_t count;
  struct starpu_data_descr *data = chain_data(c, &count);
  assert_int_equal(chain_length(c), TASKS);
  assert_int_equal(count, HANDLES);
  for (size_t i = 0; i < count; i++) {
    const int number = (int)((char *)(void *)data[i].handle - handles);
    assert_int_equal(number, order[i]);
    assert_int_equal(data[i].mode, expected[number]);
    buffers[i] = of[number] = &buffers[i];
  }
  free(data);
  calls = 0;
  chain_run(c, buffers);
  assert_int_equal(calls, TASKS);
  for (int task = 0; task < TASKS; task++)
    for (int i = 0; i < SLOTS; i++) assert_ptr_equal(got[task][i], of[uses[task][i].handle]);
  chain_free(c);
}

static void empty_chains_do_nothing(void **state) {
  (void)state;
  struct task_chain *c = chain_begin();
  size_t count;
  free(chain_data(c, &count));
  assert_int_equal(count, 0);
  chain_run(c, NULL);
  chain_free(c);
  chain_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tasks_share_slots),
                                     cmocka_unit_test(empty_chains_do_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
