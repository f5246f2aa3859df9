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

void sparse_add(struct sparse_pieces *p, int rank, size_t bytes) {
  if (p->ranks > 0 && p->rank[p->ranks - 1] == rank) {
    p->bytes[p->ranks - 1] += bytes;
    return;
  }
  if (p->ranks == p->room) {
    p->room = 2 * p->room + 16;
    p->rank = reallocate(p->rank, p->room, sizeof *p->rank, "message sizes");
    p->bytes = reallocate(p->bytes, p->room, sizeof *p->bytes, "message sizes");
  }
  p->rank[p->ranks] = rank;
  p->bytes[p->ranks++] = bytes;
}

size_t sparse_bytes(const struct sparse_pieces *p) {
  size_t bytes = 0;
  for (uint32_t k = 0; k < p->ranks; k++) bytes += p->bytes[k];
  return bytes;
}

size_t sparse_list_bytes(const struct sparse_pieces *p) {
  return p->ranks * (sizeof *p->rank + sizeof *p->bytes);
}

void sparse_free(struct sparse_pieces *p) {
  free(p->rank);
  free(p->bytes);
  *p = (struct sparse_pieces){0};
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
    if (!waiting && !any && completed(sends, count)) {
      comm_check(MPI_Ibarrier(comm_all(), &barrier), "MPI_Ibarrier");
      waiting = true;
    }
    if (waiting && completed(&barrier, 1)) return;
    if (!any) sched_yield();
  }
}

/** Put the arrivals into one piece of memory, by rank, and free them. */
static void *join(struct arrivals *list, struct sparse_pieces *from) {
  size_t bytes = 0;
  *from = (struct sparse_pieces){0};
  if (list->count > 0) qsort(list->arrival, list->count, sizeof *list->arrival, compare_arrivals);
  for (uint32_t k = 0; k < list->count; k++) bytes += list->arrival[k].bytes;
  char *all = allocate(bytes, 1, "messages"), *to = all;
  for (uint32_t k = 0; k < list->count; k++) {
    const struct arrival *a = &list->arrival[k];
    sparse_add(from, a->rank, a->bytes);
    if (a->bytes > 0) memcpy(to, a->data, a->bytes);
    to += a->bytes;
    free(a->data);
  }
  free(list->arrival);
  return all;
}

static void *exchange(enum comm_way way, const void *send, const struct sparse_pieces *to,
                      struct sparse_pieces *from) {
  /* A rank may begin the next exchange while another still ends this one. Each communicator has its turns. */
  static bool turns[2];
  bool *turn = &turns[comm_in_background()];
  const int tag = *turn ? TAG_SPARSE_NEXT : TAG_SPARSE;
  const char *data = send;
  struct arrivals list = {0};
  MPI_Request *request = allocate(to->ranks, sizeof *request, "messages");
  for (uint32_t k = 0; k < to->ranks; data += to->bytes[k++]) {
    if (to->bytes[k] > INT_MAX)
      fail(EXIT_RUN_FAILED, "a message of %zu bytes to rank %d", to->bytes[k], to->rank[k]);
    comm_count(way, to->bytes[k]);
    comm_check(
        MPI_Issend(data, (int)to->bytes[k], MPI_BYTE, to->rank[k], tag, comm_all(), &request[k]),
        "MPI_Issend");
  }
  *turn = !*turn;
  if (comm_size() > 1) receive_all(&list, tag, request, (int)to->ranks);
  free(request);
  return join(&list, from);
}

void *comm_exchange_sparse(const void *send, const struct sparse_pieces *to,
                           struct sparse_pieces *from) {
  return exchange(COMM_exchanges, send, to, from);
}

void comm_exchange_sizes(const size_t *send, size_t *receive) {
  struct sparse_pieces to = {0}, from;
  size_t *size = allocate((size_t)comm_size(), sizeof *size, "message sizes"), sizes = 0;
  for (int r = 0; r < comm_size(); r++) {
    receive[r] = r == comm_rank() ? send[r] : 0;
    if (r == comm_rank() || send[r] == 0) continue;
    size[sizes++] = send[r];
    sparse_add(&to, r, sizeof *size);
  }
  size_t *came = exchange(COMM_sizes, size, &to, &from);
  for (uint32_t k = 0; k < from.ranks; k++) receive[from.rank[k]] = came[k];
  sparse_free(&to);
  sparse_free(&from);
  free(came);
  free(size);
}
