/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchange of records of one size between every pair of ranks. */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

size_t *exchange_counts(void) {
  return allocate((size_t)comm_size(), sizeof(size_t), "message sizes");
}

size_t exchange_total(const size_t *count) {
  size_t sum = 0;
  for (int r = 0; r < comm_size(); r++) sum += count[r];
  return sum;
}

void exchange_begins(size_t *count) {
  for (size_t r = 0, sum = 0; r < (size_t)comm_size(); r++) {
    const size_t n = count[r];
    count[r] = sum;
    sum += n;
  }
}

void *exchange_answers(const void *send, size_t size, const size_t *send_count,
                       const size_t *receive_count) {
  size_t *bytes = allocate(2 * (size_t)comm_size(), sizeof *bytes, "message sizes"),
         *bytes_from = bytes + comm_size();
  for (int r = 0; r < comm_size(); r++) {
    bytes[r] = size * send_count[r];
    bytes_from[r] = size * receive_count[r];
  }
  void *received = allocate(exchange_total(receive_count), size, "messages");
  comm_exchange(send, bytes, received, bytes_from);
  free(bytes);
  return received;
}

void *exchange_records(const void *send, size_t size, const size_t *send_count,
                       size_t *receive_count) {
  comm_exchange_sizes(send_count, receive_count);
  return exchange_answers(send, size, send_count, receive_count);
}

void *exchange_given(void *send, size_t size, const size_t *send_count, size_t *receive_count) {
  if (comm_size() == 1) {
    receive_count[0] = send_count[0];
    return send;
  }
  void *received = exchange_records(send, size, send_count, receive_count);
  free(send);
  return received;
}

/** All records stay here, in their order. */
static void *keep_records(const void *records, size_t size, size_t count, size_t *place,
                          size_t *send_count, size_t *receive_count) {
  for (size_t i = 0; i < count && place; i++) place[i] = i;
  send_count[0] = receive_count[0] = count;
  void *kept = allocate(count, size, "messages");
  memcpy(kept, records, count * size);
  return kept;
}

void *exchange_scattered(const void *records, size_t size, size_t count, const uint32_t *rank,
                         size_t *place, size_t *send_count, size_t *receive_count) {
  if (comm_size() == 1) return keep_records(records, size, count, place, send_count, receive_count);
  size_t *next = exchange_counts();
  for (size_t i = 0; i < count; i++) next[rank[i]]++;
  memcpy(send_count, next, (size_t)comm_size() * sizeof *next);
  exchange_begins(next);
  char *sent = allocate(count, size, "messages");
  for (size_t i = 0; i < count; i++) {
    const size_t to = next[rank[i]]++;
    memcpy(sent + to * size, (const char *)records + i * size, size);
    if (place) place[i] = to;
  }
  void *received = exchange_records(sent, size, send_count, receive_count);
  free(sent);
  free(next);
  return received;
}
