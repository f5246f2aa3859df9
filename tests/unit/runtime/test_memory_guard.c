/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults that have another cause than memory end the program as if nobody watched for memory, however often that was begun:
 * programs that start StarPU again begin it again. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/runtime/memory_guard.h"

/* Last: it defines a macro fail(). */
#include <cmocka.h>

enum { SECONDS = 60 };

/** The signal by which a program ends that has a fault after so many begins. */
static int signal_after(int begins) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL); /* that of cmocka */
    for (int i = 0; i < begins; i++) {
      memory_guard_begin();
      memory_guard_end();
    }
    alarm(SECONDS);
    errno = 0;
    for (;;) raise(SIGSEGV); /* as the fault comes again until its signal ends the program */
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void other_faults_end_the_program(void **state) {
  (void)state;
  assert_int_equal(signal_after(1), SIGSEGV);
  assert_int_equal(signal_after(2), SIGSEGV);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(other_faults_end_the_program)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
