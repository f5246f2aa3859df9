/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/heartbeat.h"

#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

#define INTERVAL 1.0 /* seconds between two beats, or a tenth of a shorter timeout */
#define AT_END 0.005 /* the same while this rank waits for the others to end */

struct beat {
  bool last; /* no further beat follows */
  int process;
  char host[64];
};

/* State of the thread, of which a process has one. */
static struct {
  double timeout, interval;
  const char *(*advice)(void);
  MPI_Comm ring; /* messages of this file do not mix with others */
  int next, before;
  struct beat own, arriving, heard; /* arriving belongs to MPI */
  pthread_t thread;
  sem_t end; /* posted by heartbeat_stop() */
} heart;

/** Whether a message has been sent or has arrived. If MPI fails it has not: the rank is silent. */
static bool done(MPI_Request *request) {
  int flag = 0;
  return MPI_Test(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag;
}

static void speak(MPI_Request *request, bool last) {
  heart.own.last = last;
  MPI_Isend(&heart.own, sizeof heart.own, MPI_BYTE, heart.next, 0, heart.ring, request);
}

static void listen(MPI_Request *request) {
  MPI_Irecv(&heart.arriving, sizeof heart.arriving, MPI_BYTE, heart.before, 0, heart.ring, request);
}

/** Take what has arrived. @return whether that was anything */
static bool hear(MPI_Request *request) {
  bool any = false;
  while (!heart.heard.last && done(request)) {
    any = true;
    heart.heard = heart.arriving;
    if (!heart.heard.last) listen(request);
  }
  return any;
}

/** Wait for the next beat, or for heartbeat_stop(). @return whether this rank ends */
static bool wait_for_end(double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  const double ends = (double)until.tv_nsec + 1e9 * seconds;
  until.tv_sec += (time_t)(ends / 1e9);
  until.tv_nsec = (long)fmod(ends, 1e9);
  return sem_timedwait(&heart.end, &until) == 0;
}

_Noreturn static void fail_silent(void) {
  const char *advice = heart.advice ? heart.advice() : "";
  fail(EXIT_RUN_FAILED,
       "rank %d (process %d on %s) has not answered for %g s (runtime.timeout): the process, its "
       "host or the network hangs%s%s",
       heart.before, heart.heard.process, heart.heard.host, heart.timeout, *advice ? "; " : "",
       advice);
}

static void *beat(void *unused) {
  (void)unused;
  MPI_Request sent = MPI_REQUEST_NULL, receive;
  bool ending = false;
  double silence = 0.0;
  listen(&receive);
  for (double now, then = wall_clock();; then = now) {
    const double interval = ending ? fmin(AT_END, heart.interval) : heart.interval;
    /* A rank that does not take its messages gets no more of them. */
    const bool free_to_send = done(&sent);
    if (free_to_send && heart.own.last && heart.heard.last) return NULL;
    if (free_to_send && !heart.own.last) speak(&sent, ending);
    if (wait_for_end(interval)) ending = true;
    now = wall_clock();
    /* After a pause of all ranks, as by a debugger or a batch system, all have time to wake up. */
    silence = hear(&receive) ? 0.0 : silence + fmin(now - then, 2.0 * interval);
    if (heart.heard.last || silence < heart.timeout) continue;
    if (done(&sent)) speak(&sent, true); /* this rank is about to fall silent, too */
    fail_silent();
  }
}

static void check(bool good, const char *what) {
  if (!good) fail(EXIT_RUN_FAILED, "cannot watch the other ranks: %s failed", what);
}

void heartbeat_start(double timeout, const char *(*advice)(void)) {
  if (comm_size() == 1 || timeout <= 0.0) return;
  const int size = comm_size(), rank = comm_rank();
  heart.timeout = timeout;
  heart.interval = fmin(INTERVAL, timeout / 10.0);
  heart.advice = advice;
  heart.next = (rank + 1) % size;
  heart.before = (rank + size - 1) % size;
  heart.own = (struct beat){.process = (int)getpid()};
  gethostname(heart.own.host, sizeof heart.own.host - 1);
  check(MPI_Comm_dup(MPI_COMM_WORLD, &heart.ring) == MPI_SUCCESS, "MPI_Comm_dup");
  check(MPI_Sendrecv(&heart.own, sizeof heart.own, MPI_BYTE, heart.next, 0, &heart.heard,
                     sizeof heart.heard, MPI_BYTE, heart.before, 0, heart.ring,
                     MPI_STATUS_IGNORE) == MPI_SUCCESS,
        "MPI_Sendrecv");
  check(sem_init(&heart.end, 0, 0) == 0, "sem_init");
  check(pthread_create(&heart.thread, NULL, beat, NULL) == 0, "pthread_create");
}

void heartbeat_stop(void) {
  if (heart.timeout <= 0.0) return;
  sem_post(&heart.end);
  pthread_join(heart.thread, NULL);
  sem_destroy(&heart.end);
  MPI_Comm_free(&heart.ring);
  heart.timeout = 0.0;
}
