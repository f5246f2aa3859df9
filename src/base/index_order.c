/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values brought into the order of an index 0 .. n - 1 that is spread over all ranks. */
#include "index_order.h"

#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

static size_t *in_bytes(const size_t *counts, size_t size) {
  size_t *bytes = allocate((size_t)comm_size(), sizeof *bytes, "message sizes");
  for (int r = 0; r < comm_size(); r++) bytes[r] = counts[r] * size;
  return bytes;
}

/* What the ranks have for this rank, one rank's values after the other's. */
static void exchange(const struct index_order *o, const void *values, size_t size, void *received) {
  size_t *send = in_bytes(o->send, size), *receive = in_bytes(o->receive, size);
  comm_exchange(values, send, received, receive);
  free(send);
  free(receive);
}

/** How many of the increasing indices are less than `end`. */
static size_t count_below(size_t count, const uint64_t *index, uint64_t end) {
  size_t low = 0;
  while (low < count) {
    const size_t middle = low + (count - low) / 2;
    if (index[middle] < end)
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}

struct index_order index_order_create(size_t n, size_t count, const uint64_t *index) {
  const size_t size = (size_t)comm_size(), first = comm_first(n, comm_rank());
  struct index_order o = {.count = comm_first(n, comm_rank() + 1) - first};
  o.send = allocate(2 * size, sizeof *o.send, "message sizes");
  o.receive = o.send + size;
  for (size_t r = 0, before = 0; r < size; r++) {
    const size_t below = count_below(count, index, comm_first(n, (int)r + 1));
    o.send[r] = below - before;
    before = below;
  }
  comm_exchange_sizes(o.send, o.receive);
  if (size == 1) return o; /* all indices, in order */

  uint64_t *received = allocate(o.count, sizeof *received, "the order of particles");
  exchange(&o, index, sizeof *index, received);
  size_t in_order = 0;
  while (in_order < o.count && received[in_order] == first + in_order) in_order++;
  if (in_order < o.count) {
    o.place = allocate(o.count, sizeof *o.place, "the order of particles");
    for (size_t i = 0; i < o.count; i++) o.place[i] = received[i] - first;
  }
  free(received);
  return o;
}

void *index_order_room(void *room, void *ordered) { return comm_size() == 1 ? ordered : room; }

void index_order_apply(const struct index_order *o, const void *values, size_t size,
                       void *ordered) {
  if (values == ordered) return;
  if (!o->place) {
    exchange(o, values, size, ordered);
    return;
  }
  void *received = allocate(o->count, size, "particles on their way");
  exchange(o, values, size, received);
  const uint32_t *from4 = received;
  const uint64_t *from8 = received;
  uint32_t *to4 = ordered;
  uint64_t *to8 = ordered;
  for (size_t i = 0; i < o->count; i++)
    if (size == sizeof *to4)
      to4[o->place[i]] = from4[i];
    else
      to8[o->place[i]] = from8[i];
  free(received);
}

void index_order_free(struct index_order *o) {
  free(o->send);
  free(o->place);
  *o = (struct index_order){0};
}
