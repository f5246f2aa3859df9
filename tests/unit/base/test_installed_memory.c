/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory that control groups leave a process: the least limit of its group and of those that contain it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "photons/base/installed_memory.h"

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/** Limits of a group, of the group that contains it, and of another one. */
static void set_limits(const char *file, const char *outer, const char *inner) {
  char path[64];
  snprintf(path, sizeof path, "job/%s", file);
  write_file(path, outer);
  snprintf(path, sizeof path, "job/step/%s", file);
  write_file(path, inner);
  snprintf(path, sizeof path, "other/%s", file);
  write_file(path, "1000\n");
}

static double limit(const char *groups) {
  write_file("groups", groups);
  return memory_limit_of_groups("groups", ".");
}

static void version_2(void **state) {
  (void)state;
  const char *own = "0::/job/step\n";
  set_limits("memory.max", "3000000000\n", "max\n");
  assert_true(limit(own) == 3e9);
  set_limits("memory.max", "3000000000\n", "2000000000\n");
  assert_true(limit(own) == 2e9);
  set_limits("memory.max", "max\n", "max\n");
  assert_true(isinf(limit(own)));
  write_file("memory.max", "5000000000\n"); /* as a container sees the limit of its own */
  assert_true(limit("0::/\n") == 5e9);
  assert_true(limit("0::/../not/seen/here\n") == 5e9);
  assert_int_equal(unlink("memory.max"), 0);
}

static void version_1(void **state) {
  (void)state;
  assert_int_equal(chdir("memory"), 0);
  set_limits("memory.limit_in_bytes", "4000000000\n", "9223372036854771712\n");
  assert_int_equal(chdir(".."), 0);
  assert_true(limit("5:cpu,cpuacct:/other\n4:memory:/job/step\n1:name=systemd:/\n0::/\n") == 4e9);
  assert_true(limit("4:cpuset,memory:/job\n") == 4e9);
  assert_true(isinf(limit("4:cpuset:/job\n")));
}

static void no_groups(void **state) {
  (void)state;
  assert_true(isinf(memory_limit_of_groups("missing", ".")));
  assert_true(isinf(limit("nonsense\n0::\n\n:\n")));
  assert_true(installed_memory() > 1e8 && isfinite(installed_memory()));
}

static char folder[] = "/tmp/test_installed_memory.XXXXXX";
static const char *const folders[] = {"job",        "job/step",        "other",       "memory",
                                      "memory/job", "memory/job/step", "memory/other"};
enum { FOLDERS = sizeof folders / sizeof *folders };

static int enter_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder) || chdir(folder)) return -1;
  for (int i = 0; i < FOLDERS; i++)
    if (mkdir(folders[i], 0700)) return -1;
  return 0;
}

static int leave_folder(void **state) {
  (void)state;
  unlink("groups");
  for (int i = FOLDERS - 1; i >= 0; i--) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folders[i],
             i < 3 ? "memory.max" : "memory.limit_in_bytes");
    unlink(path);
    if (rmdir(folders[i])) return -1;
  }
  return chdir("/") || rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_2),
      cmocka_unit_test(version_1),
      cmocka_unit_test(no_groups),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
