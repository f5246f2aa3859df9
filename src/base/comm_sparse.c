/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between ranks of which each speaks to few others. */
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "comm_mpi.h"
#include "photons/base/error.h"

void comm_send(const void *data, size_t bytes, int to) {
  if (bytes > INT_MAX) fail(EXIT_RUN_FAILED, "a message of %zu bytes", bytes);
  comm_count(COMM_exchanges, bytes);
  comm_check(MPI_Send(data, (int)bytes, MPI_BYTE, to, TAG_PAIR, comm_all()), "MPI_Send");
}

void comm_receive(void *data, size_t bytes, int from) {
  if (bytes > INT_MAX) fail(EXIT_RUN_FAILED, "a message of %zu bytes", bytes);
  comm_check(MPI_Recv(data, (int)bytes, MPI_BYTE, from, TAG_PAIR, comm_all(), MPI_STATUS_IGNORE),
             "MPI_Recv");
}

/** What has arrived, in the order of its arrival. */
struct arrivals {
  struct arrival {
    int rank;
    size_t bytes;
    char *data;
  } * arrival;
  uint32_t count, room;
};

static int compare_arrivals(const void *a, const void *b) {
  const struct arrival *x = a, *y = b;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_arrival(struct arrivals *list, struct arrival new) {
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->arrival = reallocate(list->arrival, list->room, sizeof new, "messages");
  }
  list->arrival[list->count++] = new;
}

/** Receive a message if one is there. */
static bool receive_any(struct arrivals *list, int tag) {
  int there = 0, bytes = 0;
  MPI_Message message;
  MPI_Status status;
  comm_check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm_all(), &there, &message, &status),
             "MPI_Improbe");
  if (!there) return false;
  comm_check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  struct arrival new = {.rank = status.MPI_SOURCE, .bytes = (size_t)bytes};
  new.data = allocate(new.bytes, 1, "messages");
  comm_check(MPI_Mrecv(new.data, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  add_arrival(list, new);
  return true;
}

static bool completed(MPI_Request *request, int count) {
  int done = 0;
  comm_check(MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  return done;
}

/** Receive until all ranks have got what was sent to them. A send of this kind ends when its receiver has taken
 * it; a rank whose sends have ended goes to a barrier and receives until all ranks are there. */
static void receive_all(struct arrivals *list, int tag, MPI_Request *sends, int count) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (bool waiting = false;;) {
    const bool any = receive_any(list, tag);
    if (!waiting && completed(sends, count)) {
      comm_check(MPI_Ibarrier(comm_all(), &barrier), "MPI_Ibarrier");
      waiting = true;
    }
    if (waiting && completed(&barrier, 1)) return;
    if (!any) sched_yield();
  }
}

/** Put the arrivals into one piece of memory, by rank, and free them. */
static void *join(struct arrivals *list, struct sparse_from *from) {
  size_t bytes = 0;
  if (list->count > 0) qsort(list->arrival, list->count, sizeof *list->arrival, compare_arrivals);
  from->ranks = list->count;
  from->rank = allocate(list->count, sizeof *from->rank, "messages");
  from->bytes = allocate(list->count, sizeof *from->bytes, "messages");
  for (uint32_t k = 0; k < list->count; k++) bytes += list->arrival[k].bytes;
  char *all = allocate(bytes, 1, "messages"), *to = all;
  for (uint32_t k = 0; k < list->count; k++) {
    const struct arrival *a = &list->arrival[k];
    from->rank[k] = a->rank;
    from->bytes[k] = a->bytes;
    if (a->bytes > 0) memcpy(to, a->data, a->bytes);
    to += a->bytes;
    free(a->data);
  }
  free(list->arrival);
  return all;
}

void *comm_exchange_sparse(const void *send, const int *rank, const size_t *bytes, uint32_t ranks,
                           struct sparse_from *from) {
  /* A rank may begin the next exchange while another still ends this one. Each communicator has its turns. */
  static bool turns[2];
  bool *turn = &turns[comm_in_background()];
  const int tag = *turn ? TAG_SPARSE_NEXT : TAG_SPARSE;
  const char *data = send;
  struct arrivals list = {0};
  MPI_Request *request = allocate(ranks, sizeof *request, "messages");
  for (uint32_t k = 0; k < ranks; data += bytes[k++]) {
    if (bytes[k] > INT_MAX)
      fail(EXIT_RUN_FAILED, "a message of %zu bytes to rank %d", bytes[k], rank[k]);
    comm_count(COMM_exchanges, bytes[k]);
    comm_check(MPI_Issend(data, (int)bytes[k], MPI_BYTE, rank[k], tag, comm_all(), &request[k]),
               "MPI_Issend");
  }
  *turn = !*turn;
  if (comm_size() > 1) receive_all(&list, tag, request, (int)ranks);
  free(request);
  return join(&list, from);
}

void sparse_from_free(struct sparse_from *from) {
  free(from->rank);
  free(from->bytes);
  *from = (struct sparse_from){0};
}
