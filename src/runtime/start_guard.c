/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* memfd_create(); NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "start_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

enum { STACK_BYTES = 256 << 10 };

/* A signal handler has no argument for it. */
static struct {
  int error_output;               /* standard error as it was, */
  int kept;                       /* and what takes its place; -1: nothing does */
  struct sigaction abort, memory; /* handlers as they were */
} guard;

static void *wait_for_all(void *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return NULL;
}

void start_guard_probe(unsigned threads, size_t bytes) {
  pthread_mutex_t together = PTHREAD_MUTEX_INITIALIZER;
  pthread_t *thread = allocate(threads, sizeof *thread, "threads");
  unsigned started = 0;
  int status = 0;
  pthread_mutex_lock(&together);
  while (started < threads && status == 0) {
    status = pthread_create(&thread[started], NULL, wait_for_all, &together);
    if (status == 0) started++;
  }
  free(allocate(1, bytes, "StarPU and the libraries"));
  pthread_mutex_unlock(&together);
  for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
  free(thread);
  if (status != 0)
    fail(EXIT_RUN_FAILED,
         "%u of the %u threads that StarPU needs can be started: %s (limits on processes and "
         "memory: "
         "ulimit -u, ulimit -v)",
         started, threads, strerror(status));
}

static void end_with_message(int number) {
  static const char message[] =
      "photons-starpu: error: StarPU or HDF5 ends at its start: most likely "
      "threads or memory do not suffice "
      "(ulimit -u, ulimit -v)\n";
  (void)number;
  if (comm_take_word()) (void)!write(guard.error_output, message, sizeof message - 1);
  _exit(EXIT_RUN_FAILED);
}

void start_guard_begin(void) {
  /* HDF5 calls itself without end if it has no memory for its table of errors. Handlers then need a
   * stack of their own, also later; HDF5 runs on this thread. */
  static char stack[STACK_BYTES];
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&own, NULL);
  struct sigaction action = {.sa_handler = end_with_message, .sa_flags = SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  fflush(stderr);
  guard.kept = memfd_create("standard error", MFD_CLOEXEC);
  guard.error_output = guard.kept < 0 ? STDERR_FILENO : dup(STDERR_FILENO);
  if (guard.error_output < 0) guard.error_output = STDERR_FILENO;
  messages_to(guard.error_output); /* of other threads: after a signal, or of the heartbeat */
  if (guard.error_output != STDERR_FILENO) dup2(guard.kept, STDERR_FILENO);
  sigaction(SIGABRT, &action, &guard.abort);
  sigaction(SIGSEGV, &action, &guard.memory);
}

void start_guard_end(void) {
  sigaction(SIGABRT, &guard.abort, NULL);
  sigaction(SIGSEGV, &guard.memory, NULL);
  if (guard.error_output != STDERR_FILENO) {
    fflush(stderr);
    dup2(guard.error_output, STDERR_FILENO);
    messages_to(STDERR_FILENO);
    close(guard.error_output);
    char text[4096];
    lseek(guard.kept, 0, SEEK_SET);
    for (ssize_t n; (n = read(guard.kept, text, sizeof text)) > 0;)
      (void)!write(STDERR_FILENO, text, (size_t)n);
  }
  if (guard.kept >= 0) close(guard.kept);
}
