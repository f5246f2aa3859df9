/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/background.h"

#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <starpu.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

/* One of so many CPU workers stays free for tasks that a step may have next. */
enum { FREE_SHARE = 4, NAP = 50000 /* ns */ };
/* So long a run that fails waits for an output that it has begun; seconds. With what output_discard_all() waits for the
 * disk that is less than a run that is stopped has in all (stop.c). */
enum { LAST_WAIT = 12 };

/** The parts of a loop, on the stack of the thread. */
struct shared_loop {
  void (*function)(void *context, uint32_t i);
  void *context;
  uint32_t n;
  _Atomic uint32_t next;
};

static struct {
  pthread_t thread;
  void (*work)(void *context);
  void *context;
  bool begun;
  atomic_bool ended;
  atomic_bool hurry; /* the run waits */
  _Atomic(struct shared_loop *) loop;
  /* Who wants to look at the loop counts himself first: the thread waits until no one is left. */
  atomic_uint helpers;
  unsigned helpers_most; /* while steps go on */
} background;
static _Thread_local bool here, helps;

bool background_here(void) { return here; }
bool background_begun(void) { return background.begun; }
bool background_ended(void) { return atomic_load(&background.ended); }

bool background_possible(void) {
  hbool_t safe = 0;
  return H5is_library_threadsafe(&safe) >= 0 && safe;
}

static void *run(void *unused) {
  (void)unused;
  here = true;
  comm_use_background();
  background.work(background.context);
  atomic_store(&background.ended, true);
  return NULL;
}

/** Before a run fails: an output that was begun is not lost, unless it is what fails. */
static void wait_before_failing(void) {
  const struct timespec nap = {.tv_nsec = NAP};
  const double start = wall_clock();
  if (background_works() || !background.begun) return;
  atomic_store(&background.hurry, true);
  while (!background_ended() && wall_clock() - start < LAST_WAIT) nanosleep(&nap, NULL);
}

/** Signals are for the other threads. */
static int start_thread(void) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGABRT);
  sigdelset(&all, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int status = pthread_create(&background.thread, NULL, run, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

void background_begin(void (*work)(void *context), void *context) {
  const unsigned workers = starpu_is_initialized() ? starpu_cpu_worker_get_count() : 0;
  before_failing(wait_before_failing);
  background.work = work;
  background.context = context;
  background.helpers_most = workers - (workers + FREE_SHARE - 1) / FREE_SHARE;
  atomic_store(&background.ended, false);
  atomic_store(&background.hurry, false);
  const int status = start_thread();
  if (status != 0)
    fail(EXIT_RUN_FAILED, "the thread that writes outputs cannot be started: %s", strerror(status));
  background.begun = true;
}

void background_wait(void) {
  if (!background.begun) return;
  atomic_store(&background.hurry, true);
  if (pthread_join(background.thread, NULL) != 0)
    fail(EXIT_RUN_FAILED, "the thread that writes outputs cannot be waited for");
  background.begun = false;
}

static bool run_next(struct shared_loop *loop) {
  const uint32_t i = atomic_fetch_add(&loop->next, 1);
  if (i >= loop->n) return false;
  loop->function(loop->context, i);
  return true;
}

void background_loop(uint32_t n, void (*function)(void *context, uint32_t i), void *context) {
  const struct timespec nap = {.tv_nsec = NAP};
  struct shared_loop loop = {.function = function, .context = context, .n = n};
  if (n > 1) atomic_store(&background.loop, &loop);
  while (run_next(&loop)) {}
  atomic_store(&background.loop, NULL);
  while (atomic_load(&background.helpers) > 0) nanosleep(&nap, NULL);
}

bool background_works(void) { return here || helps; }

bool background_enter(void) {
  const unsigned others = atomic_fetch_add(&background.helpers, 1);
  helps = others < background.helpers_most || atomic_load(&background.hurry);
  if (!helps) atomic_fetch_sub(&background.helpers, 1);
  return helps;
}

void background_leave(void) {
  helps = false;
  atomic_fetch_sub(&background.helpers, 1);
}

bool background_help(void) {
  if (!atomic_load_explicit(&background.loop, memory_order_relaxed) || !background_enter())
    return false;
  bool helped = false;
  struct shared_loop *loop = atomic_load(&background.loop);
  if (loop && atomic_load(&loop->next) < loop->n) {
    starpu_worker_relax_on(); /* others may change the state of this worker meanwhile */
    helped = run_next(loop);
    starpu_worker_relax_off();
  }
  background_leave();
  return helped;
}
