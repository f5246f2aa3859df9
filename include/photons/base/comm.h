/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranks of a run, over MPI: number of ranks, reductions, broadcasts and exchanges. A program
 * that no MPI launcher started has one rank; MPI is then not started, and every function here is
 * trivial. All functions are collective and called from the main thread, or from one that has called
 * comm_use_background(), unless their description says "local". MPI errors end the program
 * (EXIT_RUN_FAILED). */
#ifndef PHOTONS_COMM_H
#define PHOTONS_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/parts.h"

/** Whether a launcher of MPI (mpirun, srun) started this program, by its environment; local. */
bool comm_launched(void);
/** The rank that the launcher gave this process, also before comm_start(); 0 without one; local. */
int comm_launch_rank(void);
/** Start MPI with full thread support (MPI_THREAD_MULTIPLE) if comm_launched(); local otherwise. If
 * comm_started() is not called in time, the program ends with an
 * error: some rank has not come that far. */
void comm_start(int *argc, char ***argv);
/** All ranks have started: from here on heartbeat.h watches them, or nothing does. */
void comm_started(void);
/** End MPI. From then on fail() ends only the calling rank. */
void comm_end(void);

/** This rank; the number of ranks; the first rank of this host; this rank's number among the ranks
 * of this host; the number of ranks of this host. All are local. */
int comm_rank(void);
int comm_size(void);
int comm_host(void);
int comm_host_rank(void);
int comm_host_size(void);
/** From now on the calling thread calls the collective functions below beside the main thread: its messages do
 * not mix with those of the main thread. One thread of each rank at a time may do this; local. */
void comm_use_background(void);
/** Whether this host has fewer than four cores for each rank: sched_yield() then sleeps. */
bool comm_crowded(void);

/** Ask for the word to say why the run ends. The first rank of this host that asks has it from then on;
 * local, and allowed in signal handlers.
 * @return whether this rank has it */
bool comm_take_word(void);
/** End all ranks of the run with exit status @p code; local. Returns at once if there is one
 * rank. */
void comm_abort(int code);

/** What has been sent since the start: messages, or calls of collective functions, and bytes. */
struct sent {
  uint64_t messages, bytes;
};
/** The ways of the functions below: reductions (bytes: of the values), broadcasts, gathers (bytes: what comes from
 * all ranks), messages of exchanges of sizes, and of other exchanges, to other ranks. */
#define COMM_WAYS(way) way(reductions) way(broadcasts) way(gathers) way(sizes) way(exchanges)
#define COMM_INDEX(name) COMM_##name,
enum comm_way { COMM_WAYS(COMM_INDEX) COMM_WAY_COUNT };
/** What this rank has sent; local. */
struct sent comm_sent(enum comm_way way);
const char *comm_way_name(enum comm_way way);

/** Wait until all ranks have called this function. */
void comm_barrier(void);
/** Reductions over all ranks, element by element, in place. comm_sum_double() is for arrays of
 * which at most one rank has a nonzero value per element, or where exactness does not matter: a sum
 * of floating-point numbers depends on the number of ranks. */
void comm_sum_u64(uint64_t *values, size_t n);
void comm_sum_double(double *values, size_t n);
void comm_max_double(double *values, size_t n);
void comm_min_u32(uint32_t *values, size_t n);
void comm_max_u32(uint32_t *values, size_t n);
/** Sum of @p value over the ranks below this one; 0 on rank 0. */
uint64_t comm_sum_before(uint64_t value);
/** The same for n values, in place. */
void comm_sums_before(uint64_t *values, size_t n);
/** Send data from rank @p root to all ranks. */
void comm_broadcast(void *data, size_t bytes, int root);
/** all[r * bytes ..] = what rank r has in `mine`. */
void comm_gather_all(const void *mine, size_t bytes, void *all);
/** The same with a different size for each rank: bytes_of[r], known on every rank. `all` receives
 * the pieces one after the other, by rank. */
void comm_gather_all_sizes(const void *mine, const size_t *bytes_of, void *all);
/** receive[r] = what rank r has in send[comm_rank()]. Sizes that are 0 are not sent: as comm_exchange_sparse(). The
 * arrays do not overlap. */
void comm_exchange_sizes(const size_t *send, size_t *receive);
/**
 * Exchange between every pair of ranks: piece r of `send` goes to rank r. The pieces of either
 * buffer follow each other by rank. Sizes are in bytes, 64-bit; comm_exchange_sizes() finds
 * receive_bytes. The buffers do not overlap.
 */
void comm_exchange(const void *send, const size_t *send_bytes, void *receive,
                   const size_t *receive_bytes);

/** Send data to another rank, which calls comm_receive() for as many bytes; both calls are local. */
void comm_send(const void *data, size_t bytes, int to);
void comm_receive(void *data, size_t bytes, int from);

/** Pieces of memory that follow each other, to or from one rank each. */
struct sparse_pieces {
  uint32_t ranks, room;
  int *rank;     /**< [ranks] */
  size_t *bytes; /**< [ranks] of each piece */
};
/** Add bytes at the end: to the last piece if this is the rank's, else as a new one. */
void sparse_add(struct sparse_pieces *p, int rank, size_t bytes);
/** Bytes of all pieces. */
size_t sparse_bytes(const struct sparse_pieces *p);
/** Bytes of the list itself. */
size_t sparse_list_bytes(const struct sparse_pieces *p);
void sparse_free(struct sparse_pieces *p);
/**
 * Exchange between ranks of which each sends to few others, and no rank knows who sends to it. Memory and
 * messages of a rank grow with what it sends and receives, not with the number of ranks (Hoefler, Siebert,
 * Lumsdaine 2010, Scalable communication protocols for dynamic sparse data exchange, PPoPP; their algorithm of
 * nonblocking consensus).
 * @param send  the pieces that are sent
 * @param to    each rank once, in any order, each piece below 2 GiB; where there are several ranks, this one may be among
 *              them
 * @param[out] from  what came, by rising rank; sparse_free() it
 * @return the pieces that came; free() them
 */
void *comm_exchange_sparse(const void *send, const struct sparse_pieces *to,
                           struct sparse_pieces *from);

/**
 * Let the ranks first .. last (this rank is one of them) work one after the other: wait for this
 * rank's turn.
 * @return the token that the rank before passed to comm_turn_end(), false on rank `first`
 */
bool comm_turn_begin(int first);
/** End this rank's turn and pass `token` to the next rank, unless this rank is `last`. */
void comm_turn_end(int last, bool token);

/** The first of n things that belong to rank r if they are dealt out evenly; n for
 * r = comm_size(). */
static inline size_t comm_first(size_t n, int r) {
  return block_first(n, (size_t)comm_size(), (size_t)r);
}

#endif
