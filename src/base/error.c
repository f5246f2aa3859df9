/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors: the message, the removal of temporary files, the end of all ranks. */
#include "photons/base/error.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/console.h"
#include "photons/base/heartbeat.h"
#include "photons/base/output_file.h"

/* File scope, as any thread may fail. */
static atomic_int output = STDERR_FILENO;
static _Atomic(void (*)(void)) waits;

void before_failing(void (*wait)(void)) { atomic_store(&waits, wait); }

void messages_to(int descriptor) { output = descriptor; }

/** A thread that waits for a reader who does not read has standard output locked: the end of the
 * program does not wait for that reader. */
static void flush(FILE *file) {
  if (ftrylockfile(stdout) != 0) return;
  fflush(file);
  funlockfile(stdout);
}

/** Print a line with one dprintf(), so that lines of several threads and ranks do not mix. */
static void print_line(const char *line) {
  flush(stdout); /* keeps the order where stdout and stderr are one file */
  const bool erase = isatty(output) && console_status_take();
  dprintf(output, "%sphotons-starpu: %s\n", erase ? CONSOLE_ERASE : "", line);
  console_log_message(line);
}

__attribute__((format(printf, 2, 0))) static void
print_message(const char *kind, const char *format, va_list arguments) {
  char message[8192], line[8192 + 64]; /* on the stack: the error may be a lack of memory */
  vsnprintf(message, sizeof message, format, arguments);
  snprintf(line, sizeof line, comm_size() > 1 ? "%s%s (rank %d)" : "%s%s", kind, message,
           comm_rank());
  print_line(line);
}

/** If every rank fails, rank 0 reports; the others wait so that they are stopped before they print.
 * Rank 0 stops them by SIGTERM, through the launcher. During a run SIGTERM asks for a checkpoint;
 * here it must end the process. */
static void wait_for_lower_ranks(void) {
  signal(SIGTERM, SIG_DFL);
  const double seconds = fmin(1.0 * comm_rank(), 3.0);
  const struct timespec time = {.tv_sec = (time_t)seconds,
                                .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
  nanosleep(&time, NULL);
}

/** Wait for the rank that has the word to end this one. Signals, which launchers send then, do not end the
 * wait. */
static void wait_for_end(void) {
  for (unsigned left = 10; left > 0;) left = sleep(left);
}

/** Only one thread ends the program, and lower ranks do so first. */
static void wait_for_turn(void) {
  static pthread_mutex_t first_only = PTHREAD_MUTEX_INITIALIZER;
  static _Thread_local bool failing;
  void (*wait)(void) = atomic_load(&waits);
  if (wait && !failing) wait();
  /* Never unlocked: other threads that fail wait here until the process ends. */
  if (!failing) pthread_mutex_lock(&first_only);
  failing = true; /* for a fail() in what follows */
  /* The rank that ended the run has the word, and has removed unfinished files of this one. */
  if (heartbeat_given_up()) wait_for_end();
  if (!output_failed()) wait_for_lower_ranks();
  if (!comm_take_word()) wait_for_end();
}

_Noreturn static void leave(int code) {
  output_discard_all();
  flush(NULL);
  comm_abort(code);
  /* Not exit(): its handlers (HDF5, StarPU, MPI) wait for StarPU's workers, and the calling thread
   * may be one of these. */
  _exit(code);
}

void fail(enum exit_code code, const char *format, ...) {
  wait_for_turn();
  va_list arguments;
  va_start(arguments, format);
  print_message("error: ", format, arguments);
  va_end(arguments);
  leave((int)code);
}

void end_program(int code, const char *format, ...) {
  wait_for_turn();
  va_list arguments;
  va_start(arguments, format);
  print_message("", format, arguments);
  va_end(arguments);
  leave(code);
}

void notify(const char *format, ...) {
  char line[8192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (comm_rank() == 0) print_line(line);
}

void warn(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message("warning: ", format, arguments);
  va_end(arguments);
}

_Noreturn static void fail_memory(size_t count, size_t size, const char *what) {
  const double bytes = (double)count * (double)size;
  if (bytes < 1048576.0)
    fail(EXIT_RUN_FAILED, "not enough memory for %s (%.0f bytes)", what, bytes);
  fail(EXIT_RUN_FAILED, "not enough memory for %s (%.1f MiB)", what, bytes / 1048576.0);
}

void *allocate(size_t count, size_t size, const char *what) {
  void *block = calloc(count ? count : 1, size ? size : 1);
  if (!block) fail_memory(count, size, what);
  return block;
}

void *reallocate(void *block, size_t count, size_t size, const char *what) {
  void *larger = reallocarray(block, count ? count : 1, size ? size : 1);
  if (!larger) fail_memory(count, size, what);
  return larger;
}
