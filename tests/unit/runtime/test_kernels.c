/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of kernels by processor and PHOTONS_ISA. */
#include "photons/runtime/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "photons/base/error.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

static void test_baseline_on_request(void **state) {
  (void)state;
  setenv("PHOTONS_ISA", "baseline", 1);
  assert_string_equal(isa_name(isa_select()), "baseline");
}

/* Without PHOTONS_ISA the widest registers are chosen, according to /proc/cpuinfo (the operating
 * system's own list). */
static void test_best_of_processor(void **state) {
  (void)state;
  FILE *info = fopen("/proc/cpuinfo", "r");
  if (!info) skip();
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, info) >= 0 && strncmp(line, "flags", 5) != 0) {}
  fclose(info);
  const char *expected = "baseline";
  if (strstr(line, " avx2 ") && strstr(line, " fma ") && strstr(line, " bmi2 ")) expected = "AVX2";
  if (strstr(line, " avx512f ") && strstr(line, " avx512dq ") && strstr(line, " avx512bw ") &&
      strstr(line, " avx512vl "))
    expected = "AVX-512";
  free(line);
  unsetenv("PHOTONS_ISA");
  assert_string_equal(isa_name(isa_select()), expected);
  setenv("PHOTONS_ISA", "", 1);
  assert_string_equal(isa_name(isa_select()), expected);
}

static void test_unknown_name_is_bad_usage(void **state) {
  (void)state;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    setenv("PHOTONS_ISA", "avx1024", 1);
    isa_select();
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), EXIT_BAD_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_baseline_on_request),
      cmocka_unit_test(test_best_of_processor),
      cmocka_unit_test(test_unknown_name_is_bad_usage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
