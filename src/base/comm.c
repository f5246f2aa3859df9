/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranks of a run, over MPI. */
#define _GNU_SOURCE /* prlimit(); NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "photons/base/comm.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comm_mpi.h"
#include "photons/base/error.h"
#include "photons/base/heartbeat.h"

/* Most bytes of one message (MPI counts with int). */
enum { PIECE_MOST = 1 << 30 };
enum { START_TIMEOUT = 600 }; /* seconds */
enum {
  LAUNCHER_FILE = 4096 << 10
}; /* bytes of a file that Open MPI's launcher shares with ranks */
/* Cores per rank below which threads that wait by polling slow down the others; nanoseconds. */
enum { CORES_LEAST = 4, NAP = 20000 };

/* The communicators. A file-scope variable like MPI's own state, because fail() needs it on any
 * thread. */
static struct {
  bool started;
  int rank, size, host, host_rank, host_size;
  bool crowded;        /* this host has fewer than CORES_LEAST cores per rank */
  MPI_Comm all;        /* a communicator apart from StarPU's, so that messages do not mix, */
  MPI_Comm background; /* and one of the thread that called comm_use_background() */
  struct {
    atomic_uint_fast64_t messages, bytes;
  } sent[COMM_WAY_COUNT];
} comm = {.size = 1, .host_size = 1};

static _Thread_local bool in_background;

void comm_use_background(void) { in_background = true; }

/** The communicator of the calling thread. */
static MPI_Comm own(void) { return in_background ? comm.background : comm.all; }

void comm_check(int status, const char *what) {
  if (status == MPI_SUCCESS) return;
  /* Most likely another rank has failed. It, or the launcher, prints why and ends this rank. */
  sleep(2);
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(status, text, &length) != MPI_SUCCESS) length = 0;
  fail(EXIT_RUN_FAILED, "MPI: %s failed: %.*s", what, length, text);
}

bool comm_launched(void) {
  const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (getenv(variables[i])) return true;
  return false;
}

/**
 * Replaces the C library's sched_yield(). Idle workers (idle_workers.h), StarPU-MPI's progress thread and
 * Open MPI call sched_yield() in a loop while they wait. The kernel hardly lets other threads in
 * for it, so on a crowded host every message waits for time slices to end. There this function
 * sleeps for a short time instead: steps of three ranks on two cores become some twenty times
 * faster.
 */
int sched_yield(void) {
  if (!comm.crowded) return (int)syscall(SYS_sched_yield);
  const struct timespec nap = {.tv_nsec = NAP};
  nanosleep(&nap, NULL);
  return 0;
}

/* A rank that is stopped or unreachable before the ranks watch each other (heartbeat.h) makes all
 * others wait inside MPI. Only async-signal-safe functions may be called here. */
static void fail_to_start(int number) {
  (void)number;
  static const char text[] =
      "photons-starpu: error: not all ranks have started MPI and read the configuration in time: a "
      "rank or its host is stopped, or the network hangs; PHOTONS_START_TIMEOUT is the limit in "
      "seconds (600; 0: none)\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) > 0) _exit(EXIT_RUN_FAILED);
  _exit(EXIT_RUN_FAILED);
}

int comm_launch_rank(void) {
  const char *rank = getenv("PMIX_RANK") ? getenv("PMIX_RANK") : getenv("PMI_RANK");
  return rank ? (int)strtol(rank, NULL, 10) : 0;
}

static void limit_start(void) {
  const char *limit = getenv("PHOTONS_START_TIMEOUT");
  char *end = NULL;
  const unsigned long seconds = limit ? strtoul(limit, &end, 10) : START_TIMEOUT;
  if (limit && (end == limit || *end || seconds > 86400))
    fail(EXIT_BAD_USAGE, "PHOTONS_START_TIMEOUT=%s: not a number of seconds, 0 .. 86400", limit);
  /* Lower ranks speak first: the launcher then ends the others. */
  const unsigned late = comm_launch_rank() > 0 ? 2 : 0;
  signal(SIGALRM, fail_to_start);
  alarm(seconds > 0 ? (unsigned)seconds + late : 0);
}

/** Where a limit of file sizes forbids the launcher's files, MPI does not start and the launcher hangs. It
 * ends where a rank ends before MPI starts. */
static void check_launcher(void) {
  struct rlimit limit;
  if (!getenv("OMPI_COMM_WORLD_SIZE") || prlimit(getppid(), RLIMIT_FSIZE, NULL, &limit) != 0 ||
      limit.rlim_cur >= LAUNCHER_FILE)
    return;
  if (comm_launch_rank() > 0) sleep(2); /* the first rank has the word */
  fail(EXIT_RUN_FAILED,
       "mpirun has a limit of file sizes of %llu KiB, and Open MPI needs files of %d KiB to start: "
       "raise the limit (ulimit -f)",
       (unsigned long long)limit.rlim_cur >> 10, LAUNCHER_FILE >> 10);
}

void comm_started(void) {
  if (comm.started) alarm(0);
}

/* Who says why the run ends: a place that the ranks of a host share. Memory of System V, as the limit of
 * file sizes does not count for it. */
struct word {
  long key;         /* tells the segment from one of another container that has the same number */
  atomic_int owner; /* rank + 1; 0: nobody yet */
};
static struct word own_word;
static struct word *word = &own_word;

bool comm_take_word(void) {
  int nobody = 0;
  return atomic_compare_exchange_strong(&word->owner, &nobody, comm.rank + 1) ||
         nobody == comm.rank + 1;
}

/** A segment of this process. Linux keeps it, once it is removed, while a process has it: none is left. */
static struct word *create_word(int *id) {
  *id = shmget(IPC_PRIVATE, sizeof *word, 0600);
  struct word *new = *id < 0 ? (void *)-1 : shmat(*id, NULL, 0);
  if (*id >= 0) shmctl(*id, IPC_RMID, NULL);
  if (new == (void *)-1) return NULL;
  new->key = (long)getpid();
  return new;
}

/** Without shared memory each rank has a word of its own. */
static void share_word(MPI_Comm host) {
  struct {
    int id;
    long key;
  } from = {.id = -1, .key = (long)getpid()};
  struct word *shared = comm.host_rank == 0 ? create_word(&from.id) : NULL;
  comm_check(MPI_Bcast(&from, sizeof from, MPI_BYTE, 0, host), "MPI_Bcast");
  if (comm.host_rank > 0 && from.id >= 0) shared = shmat(from.id, NULL, 0);
  if (shared && shared != (void *)-1 && shared->key == from.key) word = shared;
  comm_check(MPI_Barrier(host), "MPI_Barrier"); /* the segment is there until all have it */
}

void comm_start(int *argc, char ***argv) {
  if (!comm_launched()) return;
  int provided;
  check_launcher();
  limit_start();
  if (setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0) !=
      0) /* Without this, Open MPI yields only if a host has more ranks than cores. */
    fail(EXIT_RUN_FAILED, "cannot set an environment variable");
  comm_check(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  comm.started = true;
  comm_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  comm_check(MPI_Comm_dup(MPI_COMM_WORLD, &comm.all), "MPI_Comm_dup");
  comm_check(MPI_Comm_dup(MPI_COMM_WORLD, &comm.background), "MPI_Comm_dup");
  comm_check(MPI_Comm_rank(comm.all, &comm.rank), "MPI_Comm_rank");
  comm_check(MPI_Comm_size(comm.all, &comm.size), "MPI_Comm_size");
  MPI_Comm host;
  comm_check(MPI_Comm_split_type(comm.all, MPI_COMM_TYPE_SHARED, comm.rank, MPI_INFO_NULL, &host),
             "MPI_Comm_split_type");
  comm_check(MPI_Comm_rank(host, &comm.host_rank), "MPI_Comm_rank");
  comm_check(MPI_Comm_size(host, &comm.host_size), "MPI_Comm_size");
  comm.host = comm.rank;
  comm_check(MPI_Bcast(&comm.host, 1, MPI_INT, 0, host), "MPI_Bcast");
  share_word(host);
  comm_check(MPI_Comm_free(&host), "MPI_Comm_free");
  comm.crowded = comm.host_size > 1 &&
                 sysconf(_SC_NPROCESSORS_ONLN) < (long)CORES_LEAST * comm.host_size;
  if (comm.size > 1 && provided < MPI_THREAD_MULTIPLE)
    fail(EXIT_RUN_FAILED,
         "this MPI has no support for threads (MPI_THREAD_MULTIPLE), which more than one rank "
         "needs: use another MPI or one rank");
}

void comm_end(void) {
  if (!comm.started) return;
  heartbeat_stop();
  comm_check(MPI_Comm_free(&comm.background), "MPI_Comm_free");
  comm_check(MPI_Comm_free(&comm.all), "MPI_Comm_free");
  comm.started = false;
  comm_check(MPI_Finalize(), "MPI_Finalize");
}

MPI_Comm comm_all(void) { return own(); }
bool comm_in_background(void) { return in_background; }
int comm_rank(void) { return comm.rank; }
int comm_size(void) { return comm.size; }
int comm_host(void) { return comm.host; }
int comm_host_rank(void) { return comm.host_rank; }
int comm_host_size(void) { return comm.host_size; }
bool comm_crowded(void) { return comm.crowded; }

void comm_abort(int code) {
  if (comm.started && comm.size > 1) MPI_Abort(MPI_COMM_WORLD, code);
}

struct sent comm_sent(enum comm_way way) {
  return (struct sent){atomic_load(&comm.sent[way].messages), atomic_load(&comm.sent[way].bytes)};
}

const char *comm_way_name(enum comm_way way) {
#define COMM_NAME(name) #name,
  static const char *const names[] = {COMM_WAYS(COMM_NAME)};
  return names[way];
}

void comm_count(enum comm_way way, size_t bytes) {
  atomic_fetch_add(&comm.sent[way].messages, 1);
  atomic_fetch_add(&comm.sent[way].bytes, bytes);
}

void comm_barrier(void) {
  if (comm.size > 1) comm_check(MPI_Barrier(own()), "MPI_Barrier");
}

/** Allreduce in pieces, since MPI counts with int. */
static void reduce(void *values, size_t n, size_t size, MPI_Datatype type, MPI_Op operation) {
  if (comm.size == 1) return;
  comm_count(COMM_reductions, n * size);
  for (size_t done = 0; done < n;) {
    const size_t part = n - done < PIECE_MOST / 8 ? n - done : PIECE_MOST / 8;
    comm_check(MPI_Allreduce(MPI_IN_PLACE, (char *)values + done * size, (int)part, type, operation,
                             own()),
               "MPI_Allreduce");
    done += part;
  }
}

void comm_sum_u64(uint64_t *values, size_t n) {
  reduce(values, n, sizeof *values, MPI_UINT64_T, MPI_SUM);
}
void comm_sum_double(double *values, size_t n) {
  reduce(values, n, sizeof *values, MPI_DOUBLE, MPI_SUM);
}
void comm_max_double(double *values, size_t n) {
  reduce(values, n, sizeof *values, MPI_DOUBLE, MPI_MAX);
}
void comm_min_u32(uint32_t *values, size_t n) {
  reduce(values, n, sizeof *values, MPI_UINT32_T, MPI_MIN);
}
void comm_max_u32(uint32_t *values, size_t n) {
  reduce(values, n, sizeof *values, MPI_UINT32_T, MPI_MAX);
}

void comm_sums_before(uint64_t *values, size_t n) {
  if (comm.size > 1) comm_count(COMM_reductions, n * sizeof *values);
  for (size_t done = 0, part; comm.size > 1 && done < n; done += part) {
    part = n - done < PIECE_MOST / 8 ? n - done : PIECE_MOST / 8;
    comm_check(MPI_Exscan(MPI_IN_PLACE, values + done, (int)part, MPI_UINT64_T, MPI_SUM, own()),
               "MPI_Exscan");
  }
  /* MPI_Exscan() leaves the results of rank 0 as they are */
  if (comm.rank == 0) memset(values, 0, n * sizeof *values);
}

uint64_t comm_sum_before(uint64_t value) {
  comm_sums_before(&value, 1);
  return value;
}

void comm_broadcast(void *data, size_t bytes, int root) {
  if (comm.size == 1) return;
  comm_count(COMM_broadcasts, bytes);
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < PIECE_MOST ? bytes - done : PIECE_MOST;
    comm_check(MPI_Bcast((char *)data + done, (int)part, MPI_BYTE, root, own()), "MPI_Bcast");
    done += part;
  }
}

void comm_gather_all(const void *mine, size_t bytes, void *all) {
  size_t *bytes_of = allocate((size_t)comm.size, sizeof *bytes_of, "message sizes");
  for (int r = 0; r < comm.size; r++) bytes_of[r] = bytes;
  comm_gather_all_sizes(mine, bytes_of, all);
  free(bytes_of);
}

void comm_gather_all_sizes(const void *mine, const size_t *bytes_of, void *all) {
  char *to = all;
  int *bytes = allocate(2 * (size_t)comm.size, sizeof *bytes, "message sizes"),
      *place = bytes + comm.size;
  size_t sum = 0;
  for (int r = 0; r < comm.size; sum += bytes_of[r++]) {
    place[r] = (int)sum;
    bytes[r] = (int)bytes_of[r];
  }
  if (comm.size == 1) {
    memcpy(all, mine, sum);
  } else if (sum < PIECE_MOST) {
    comm_check(MPI_Allgatherv(mine, bytes[comm.rank], MPI_BYTE, all, bytes, place, MPI_BYTE, own()),
               "MPI_Allgatherv");
  } else {
    for (int r = 0; r < comm.size; to += bytes_of[r++]) {
      if (r == comm.rank) memcpy(to, mine, bytes_of[r]);
      comm_broadcast(to, bytes_of[r], r);
    }
  }
  if (comm.size > 1) comm_count(COMM_gathers, sum);
  free(bytes);
}

static size_t pieces(size_t bytes) { return (bytes + PIECE_MOST - 1) / PIECE_MOST; }

void comm_exchange(const void *send, const size_t *send_bytes, void *receive,
                   const size_t *receive_bytes) {
  const char *from = send;
  char *to = receive;
  size_t most = 1;
  for (int r = 0; r < comm.size; r++) most += pieces(send_bytes[r]) + pieces(receive_bytes[r]);
  MPI_Request *request = allocate(most, sizeof *request, "messages");
  int requests = 0;
  for (int r = 0; r < comm.size; to += receive_bytes[r++])
    for (size_t done = 0; r != comm.rank && done < receive_bytes[r]; done += PIECE_MOST) {
      const size_t left = receive_bytes[r] - done;
      comm_check(MPI_Irecv(to + done, (int)(left < PIECE_MOST ? left : PIECE_MOST), MPI_BYTE, r,
                           TAG_EXCHANGE, own(), &request[requests++]),
                 "MPI_Irecv");
    }
  to = receive;
  for (int r = 0; r < comm.rank; r++) to += receive_bytes[r];
  for (int r = 0; r < comm.size; from += send_bytes[r++]) {
    if (r != comm.rank && send_bytes[r] > 0) comm_count(COMM_exchanges, send_bytes[r]);
    if (r == comm.rank && send_bytes[r] > 0) memcpy(to, from, send_bytes[r]);
    for (size_t done = 0; r != comm.rank && done < send_bytes[r]; done += PIECE_MOST) {
      const size_t left = send_bytes[r] - done;
      comm_check(MPI_Isend(from + done, (int)(left < PIECE_MOST ? left : PIECE_MOST), MPI_BYTE, r,
                           TAG_EXCHANGE, own(), &request[requests++]),
                 "MPI_Isend");
    }
  }
  if (requests > 0) comm_check(MPI_Waitall(requests, request, MPI_STATUSES_IGNORE), "MPI_Waitall");
  free(request);
}

bool comm_turn_begin(int first) {
  bool token = false;
  if (comm.rank > first)
    comm_check(
        MPI_Recv(&token, sizeof token, MPI_BYTE, comm.rank - 1, TAG_TURN, own(), MPI_STATUS_IGNORE),
        "MPI_Recv");
  return token;
}

void comm_turn_end(int last, bool token) {
  if (comm.rank < last)
    comm_check(MPI_Send(&token, sizeof token, MPI_BYTE, comm.rank + 1, TAG_TURN, own()),
               "MPI_Send");
}
