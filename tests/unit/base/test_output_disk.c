/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program goes on while the disk writes the files of a batch. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/base/output_text.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/failure.h"

static atomic_int syncs;    /* calls of fsync() */
static atomic_bool held;    /* fsync() waits */
static atomic_bool gave_up; /* it has waited in vain */
static atomic_bool broken;  /* it fails */

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

/** In the place of the C library's. */
int fsync(int descriptor) {
  (void)descriptor;
  atomic_fetch_add(&syncs, 1);
  for (int turn = 0; atomic_load(&held); turn++) {
    if (turn == 2000) atomic_store(&gave_up, true);
    if (turn >= 2000) break;
    nap();
  }
  errno = EIO;
  return atomic_load(&broken) ? -1 : 0;
}

static bool exists(const char *name) { return access(scratch(name), F_OK) == 0; }

static void save_text(const char *name) {
  struct output_text text;
  fprintf(output_text_begin(&text), "1\n");
  output_text_save(&text, scratch(name));
}

static void write_set(void *context, const struct output_turn *turn) {
  if (context) assert_true(exists(context)); /* a file before this one */
  FILE *file = output_open(turn->temporary);
  fputs("22\n", file);
  output_close(file, turn->path);
}

static void save_set(const char *name, const char *before) {
  char path[1024], previous[1024];
  snprintf(path, sizeof path, "%s", scratch(name));
  snprintf(previous, sizeof previous, "%s", scratch("previous"));
  output_together((char *[]){path}, 1, before ? previous : NULL, write_set, (void *)before);
}

static void write_batch(void) {
  output_batch_begin();
  save_text("text");
  save_set("set", NULL);
  output_batch_end();
}

/** A batch of two files in a folder waits for the disk three times, on a thread of its own. */
static void test_steps_go_on(void **state) {
  (void)state;
  const uint64_t before = output_bytes();
  atomic_store(&syncs, 0);
  atomic_store(&held, true);
  write_batch();
  assert_false(atomic_load(&gave_up)); /* it has not waited */
  assert_int_equal(output_bytes() - before, 3);
  assert_true(exists("text.tmp") && exists("set.tmp"));
  assert_false(exists("text") || exists("set"));
  atomic_store(&held, false);
  output_settle();
  assert_true(exists("text") && exists("set"));
  assert_int_equal(atomic_load(&syncs), 3);
  assert_int_equal(scratch_count_files(), 2);
}

static void *let_go(void *unused) {
  for (int turn = 0; turn < 50; turn++) nap();
  atomic_store(&held, false);
  return unused;
}

/** A file that follows, such as a checkpoint, which says that the output is there, is not written before it is. */
static void test_what_follows_waits(void **state) {
  (void)state;
  pthread_t thread;
  atomic_store(&held, true);
  write_batch();
  assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
  save_set("checkpoint", "set");
  assert_true(exists("checkpoint"));
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_false(atomic_load(&gave_up));
}

static void fail_to_sync(void *unused) {
  (void)unused;
  atomic_store(&broken, true);
  write_batch();
  output_settle();
}

/** The program ends for another reason while files have no names yet: they get them. */
static void fail_beside(void *unused) {
  (void)unused;
  pthread_t thread;
  atomic_store(&held, true);
  write_batch();
  pthread_create(&thread, NULL, let_go, NULL);
  fail(EXIT_RUN_FAILED, "something else");
}

static void test_failures(void **state) {
  (void)state;
  expect_failure(fail_to_sync, NULL, EXIT_RUN_FAILED, "cannot write ");
  assert_int_equal(scratch_count_files(), 0);
  expect_failure(fail_beside, NULL, EXIT_RUN_FAILED, "something else");
  assert_true(exists("text") && exists("set"));
  assert_int_equal(scratch_count_files(), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_steps_go_on, scratch_empty),
      cmocka_unit_test_teardown(test_what_follows_waits, scratch_empty),
      cmocka_unit_test_teardown(test_failures, scratch_empty),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
