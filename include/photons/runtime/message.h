/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of the task graph: StarPU-MPI's detached sends and receives, which are ordered by the data
 * like tasks. Both ends of a message know from tables that every rank has what goes where, so no rank
 * asks another.
 *
 * Between ranks of one host only a token of eight bytes goes through StarPU-MPI. A task of the sender
 * (put) has copied the data to shared memory before, at the place that the token names; a task of the
 * receiver (get) fetches it. Many cores, or the GPUs that have and want the data, copy instead of
 * StarPU-MPI's one thread. */
#ifndef PHOTONS_RUNTIME_MESSAGE_H
#define PHOTONS_RUNTIME_MESSAGE_H

#include <starpu.h>
#include <stddef.h>

#include "photons/runtime/engine.h"

struct parameters;

/* Everything here is collective; on one rank it does nothing but wait for tasks. */

/** Start and end StarPU-MPI and the memory shared between ranks of a host. */
void message_start(const struct parameters *p);
void message_stop(void);
/** Before the first message of a step: what was sent in the last step has been used everywhere. */
void message_begin(void);
/** All tasks of this rank done, and all messages. */
void message_wait(void);

/** What a message holds, and of which thing (a group, a row of a table): both make its tag. Each room
 * of the program has its own kinds; they must differ. */
enum { MESSAGE_KINDS = 16 };

/**
 * Transfer the data of a handle from one rank to another: called on both alike, does nothing on
 * others and where `from` is `to`.
 * @param data   the handle of this rank's end
 * @param kind   below MESSAGE_KINDS
 * @param thing  number of the thing among those of its kind, the same on both ends
 */
void message_transfer(starpu_data_handle_t data, unsigned kind, size_t thing, int from, int to,
                      enum priority priority);

#endif
