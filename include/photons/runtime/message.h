/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between ranks as part of the task graph: detached sends and receives of StarPU-MPI,
 * ordered with tasks by their data. Sender and receiver know every message from tables that all
 * ranks have, so no rank asks another.
 *
 * Between ranks of one host only a token of eight bytes goes through StarPU-MPI. Before, a task of
 * the sender (put) has copied the data to shared memory, to the place that the token names: in the memory
 * of a GPU (gpu_memory.h) or of the host. Afterwards, a task of the receiver (get) copies the data from there. Thus many cores, or the GPUs
 * that hold the data, do the copying instead of StarPU-MPI's one thread. */
#ifndef PHOTONS_RUNTIME_MESSAGE_H
#define PHOTONS_RUNTIME_MESSAGE_H

#include <starpu.h>
#include <stddef.h>

#include "photons/base/comm.h"
#include "photons/runtime/engine.h"

struct parameters;

/* All functions are collective. With one rank they do nothing, except that message_wait() waits for
 * tasks. */

/** Start and end StarPU-MPI and the memory shared among the ranks of a host. */
void message_start(const struct parameters *p);
void message_stop(void);
/** How ranks of one host exchange data, for people; local. */
const char *message_way(void);
/** To be called before the first message of a step. All tasks of the last step must have ended:
 * their shared memory is used again. */
void message_begin(void);
/** Wait for all tasks and messages of this rank. */
void message_wait(void);

/** A message's tag is made of its kind (what the message holds) and the number of a thing (a group,
 * a row of a table). Each room defines its own kinds; kinds of different rooms must differ. */
enum { MESSAGE_KINDS = 32 };

/**
 * Transfer the data of a handle from one rank to another. Called with the same arguments on both
 * ranks; does nothing on other ranks and if `from` equals `to`.
 * @param data   this rank's handle
 * @param kind   below MESSAGE_KINDS
 * @param thing  number of the thing among the things of its kind, the same on both ranks
 */
void message_transfer(starpu_data_handle_t data, unsigned kind, size_t thing, int from, int to,
                      enum priority priority);
/** What this rank has sent of a kind, through MPI or through memory that ranks share; local. */
struct sent message_sent(unsigned kind);

#endif
