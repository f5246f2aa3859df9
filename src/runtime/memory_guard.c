/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* dladdr(); NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "memory_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/error.h"
#include "photons/runtime/gpu.h"

enum { LAST_SECONDS = 20 };

/* Signal handlers have no argument. */
static struct {
  bool active, installed;
  struct sigaction abort, memory; /* handlers as they were */
} guard;

/**
 * Replaces the C library's backtrace(), with which StarPU begins when one of its assertions fails.
 * After a malloc() that failed, or an error of a GPU, the run ends here instead, with one line.
 */
int backtrace(void **frames, int size) {
  const bool no_memory = errno == ENOMEM;
  Dl_info caller = {0};
  if (guard.active && dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname &&
      strstr(caller.dli_fname, "libstarpu")) {
    const char *function = caller.dli_sname ? caller.dli_sname : "a function of its own";
    const char *gpu = GPU_CALL(gpu_last_error());
    if (gpu) fail(EXIT_RUN_FAILED, "the GPU stopped: %s (StarPU, %s)", gpu, function);
    if (no_memory) fail(EXIT_RUN_FAILED, "not enough memory for StarPU (%s)", function);
  }
  int (*next)(void **, int);
  *(void **)&next = dlsym(RTLD_NEXT, "backtrace");
  return next ? next(frames, size) : 0;
}

/** abort() or the use of a null pointer. Other causes than memory are left to who handled them. */
static void end_with_message(int number) {
  const bool no_memory = errno == ENOMEM;
  sigaction(SIGABRT, &guard.abort, NULL);
  sigaction(SIGSEGV, &guard.memory, NULL);
  if (!no_memory) return;   /* the signal comes again */
  signal(SIGALRM, SIG_DFL); /* where the end cannot be reached, as memory is short */
  alarm(LAST_SECONDS);
  fail(EXIT_RUN_FAILED, "not enough memory: a library ends the program (signal %d)", number);
}

/** exit(), which HDF5 1.10 calls where it cannot register an object. */
static void end_of_library(void) {
  if (guard.active && errno == ENOMEM)
    fail(EXIT_RUN_FAILED, "not enough memory: a library ends the program");
}

void memory_guard_begin(void) {
  guard.active = true;
  if (guard.installed) return; /* a second time it would keep its own handlers as those of others */
  guard.installed = true;
  struct sigaction action = {.sa_handler = end_with_message,
                             .sa_flags = SA_NODEFER | SA_ONSTACK}; /* see start_guard.c */
  sigemptyset(&action.sa_mask);
  sigaction(SIGABRT, &action, &guard.abort);
  sigaction(SIGSEGV, &action, &guard.memory);
  atexit(end_of_library);
}

void memory_guard_end(void) { guard.active = false; }
