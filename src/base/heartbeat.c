/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/heartbeat.h"

#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

#define INTERVAL 1.0 /* seconds between two beats, or a tenth of a shorter timeout */
#define AT_END 0.005 /* the same while this rank waits for the others to end */

#define GIVEN_UP 10.0 /* seconds in which the launcher ends a rank that was given up */

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
  int before;
  MPI_Request send, receive; /* of `own` to the next rank, into `arriving` from the one before */
  struct beat own, arriving, heard; /* heard: the last that has arrived */
  pthread_t thread;
  sem_t end;                            /* posted by heartbeat_stop() */
  _Atomic double last_beat, last_pause; /* when this rank spoke, and was silent for too long */
} heart;

/** Whether other ranks may have given up a rank that has been silent for so long: they count from the last
 * beat that they have heard. */
static bool too_long(double silence) { return silence > heart.timeout - 2.0 * heart.interval; }

bool heartbeat_given_up(void) {
  const double now = wall_clock();
  return heart.timeout > 0.0 &&
         (too_long(now - heart.last_beat) || now - heart.last_pause < GIVEN_UP);
}

/** Whether a message has been sent or has arrived. If MPI fails it has not: the rank is silent. */
static bool done(MPI_Request *request) {
  int flag = 0;
  return MPI_Test(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag;
}

static void speak(bool last) {
  heart.own.last = last;
  MPI_Start(&heart.send);
}

/** Take what has arrived. @return whether that was anything */
static bool hear(void) {
  bool any = false;
  while (!heart.heard.last && done(&heart.receive)) {
    any = true;
    heart.heard = heart.arriving;
    if (!heart.heard.last) MPI_Start(&heart.receive);
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
  bool ending = false;
  double silence = 0.0;
  MPI_Start(&heart.receive);
  for (double now, then = wall_clock();; then = now) {
    const double interval = ending ? fmin(AT_END, heart.interval) : heart.interval;
    /* A rank that does not take its messages gets no more of them. */
    const bool free_to_send = done(&heart.send);
    if (free_to_send && heart.own.last && heart.heard.last) return NULL;
    if (free_to_send && !heart.own.last) speak(ending);
    if (wait_for_end(interval)) ending = true;
    now = wall_clock();
    heart.last_beat = now;
    if (too_long(now - then)) heart.last_pause = now;
    /* After a pause of all ranks, as by a debugger or a batch system, all have time to wake up. */
    silence = hear() ? 0.0 : silence + fmin(now - then, 2.0 * interval);
    if (heart.heard.last || silence < heart.timeout) continue;
    if (done(&heart.send)) speak(true); /* this rank is about to fall silent, too */
    fail_silent();
  }
}

static void check(bool good, const char *what) {
  if (!good) fail(EXIT_RUN_FAILED, "cannot watch the other ranks: %s failed", what);
}

static void join_ring(double timeout, const char *(*advice)(void)) {
  const int size = comm_size(), rank = comm_rank();
  heart.last_beat = wall_clock();
  heart.last_pause = heart.last_beat - GIVEN_UP;
  heart.timeout = timeout;
  heart.interval = fmin(INTERVAL, timeout / 10.0);
  heart.advice = advice;
  heart.before = (rank + size - 1) % size;
  heart.own = (struct beat){.process = (int)getpid()};
  gethostname(heart.own.host, sizeof heart.own.host - 1);
  const int next = (rank + 1) % size, bytes = sizeof heart.own;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &heart.ring) == MPI_SUCCESS, "MPI_Comm_dup");
  check(MPI_Sendrecv(&heart.own, bytes, MPI_BYTE, next, 0, &heart.heard, bytes, MPI_BYTE,
                     heart.before, 0, heart.ring, MPI_STATUS_IGNORE) == MPI_SUCCESS,
        "MPI_Sendrecv");
  check(MPI_Send_init(&heart.own, bytes, MPI_BYTE, next, 0, heart.ring, &heart.send) == MPI_SUCCESS,
        "MPI_Send_init");
  check(MPI_Recv_init(&heart.arriving, bytes, MPI_BYTE, heart.before, 0, heart.ring,
                      &heart.receive) == MPI_SUCCESS,
        "MPI_Recv_init");
  check(sem_init(&heart.end, 0, 0) == 0, "sem_init");
  check(pthread_create(&heart.thread, NULL, beat, NULL) == 0, "pthread_create");
}

void heartbeat_start(double timeout, const char *(*advice)(void)) {
  if (comm_size() > 1 && timeout > 0.0) join_ring(timeout, advice);
  comm_started();
}

/* What the last ranks say that wait in MPI_Finalize(). A signal handler has no argument. */
static char late[256];

static void end_late(int number) {
  (void)number;
  /* NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): it exchanges one atomic number */
  if (comm_take_word()) (void)!write(STDERR_FILENO, late, strlen(late));
  _exit(EXIT_RUN_FAILED);
}

/** Without messages no rank can be named, but the run ends. Lower ranks speak first: the launcher
 * then ends the others. */
static void limit_end(void) {
  /* Ranks that share a core need as much longer to take leave of each other. */
  const double share = (double)comm_host_size() / (double)sysconf(_SC_NPROCESSORS_ONLN);
  const double limit = ceil(heart.timeout * fmax(share, 1.0));
  snprintf(late, sizeof late,
           "photons-starpu: error: a rank has not answered for %g s at the end of the run: all "
           "results are written, but MPI_Finalize() does not return (rank %d)\n",
           limit, comm_rank());
  signal(SIGALRM, end_late);
  alarm((unsigned)(limit + fmin(comm_rank(), 3.0)));
}

void heartbeat_stop(void) {
  if (heart.timeout <= 0.0) return;
  comm_barrier(); /* until all ranks have come here a silent one is named */
  sem_post(&heart.end);
  pthread_join(heart.thread, NULL);
  sem_destroy(&heart.end);
  MPI_Request_free(&heart.send);
  MPI_Request_free(&heart.receive);
  MPI_Comm_free(&heart.ring);
  limit_end();
  heart.timeout = 0.0;
}
