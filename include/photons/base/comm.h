/* The processes of a run (ranks). A program that no MPI launcher started is one process: MPI is then never started, and all of
 * this is trivial. Whoever calls a function without "local" in its description must do so on every process, from the main thread. */
#ifndef PHOTONS_COMM_H
#define PHOTONS_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/parts.h"

/** Start MPI if a launcher (mpirun, srun) started this program, with full thread support. Local where there is one process. */
void comm_start(int *argc, char ***argv);
/** End it; after this fail() ends this process only. */
void comm_end(void);

/** This process (local), the number of processes (local), and the same among those of this host (local), of which comm_host() is the first (local). */
int comm_rank(void);
int comm_size(void);
int comm_host(void);
int comm_host_rank(void);
int comm_host_size(void);

/** End every process of the run (local). Returns at once where there is only one. */
void comm_abort(int code);

void comm_barrier(void);
/** Over all processes, element by element, in place. Sums of integers only: those of floating-point numbers would depend on the
 * number of processes, except where each element is nonzero on one process at most or exactness does not matter. */
void comm_sum_u64(uint64_t *values, size_t n);
void comm_sum_double(double *values, size_t n);
void comm_max_double(double *values, size_t n);
void comm_min_u32(uint32_t *values, size_t n);
void comm_max_u32(uint32_t *values, size_t n);
/** Sum of @p value over the processes before this one. */
uint64_t comm_sum_before(uint64_t value);
/** From process @p root to all. */
void comm_broadcast(void *data, size_t bytes, int root);
/** all[rank * bytes ..] = mine of each process. */
void comm_gather_all(const void *mine, size_t bytes, void *all);
/** The same with sizes of their own; bytes_of[rank] on every process; all: the pieces one after the other. */
void comm_gather_all_sizes(const void *mine, const size_t *bytes_of, void *all);
/** receive[r] = what process r has in send[comm_rank()]. */
void comm_exchange_sizes(const size_t *send, size_t *receive);
/**
 * Every process to every other: piece r of `send` to process r, pieces one after the other; the pieces received one after the other, by
 * rank. Sizes in bytes, 64-bit; see comm_exchange_sizes(). The buffers do not overlap.
 */
void comm_exchange(const void *send, const size_t *send_bytes, void *receive, const size_t *receive_bytes);

/** One process after the other, by rank, within [first, last] (this process among them): wait for one's turn. @return what the one before
 * gave to comm_turn_end(), false for the first */
bool comm_turn_begin(int first);
/** It is the next process's turn. */
void comm_turn_end(int last, bool token);

/** First of n things that fall to process r of `size`, as block_first(). */
static inline size_t comm_first(size_t n, int r) {
  return block_first(n, (size_t)comm_size(), (size_t)r);
}

#endif
