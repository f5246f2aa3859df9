/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Check that all ids differ: ids are sent to the rank that is responsible for their value, which
 * finds duplicates. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gadget.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

struct ids {
  uint64_t lowest, highest;
  bool scattered; /* true: ranks are responsible for hashed values; false: for ranges */
};

/** The rank that is responsible for an id. */
static size_t owner(const struct ids *all, uint64_t id) {
  const size_t size = (size_t)comm_size();
  if (all->scattered) /* Knuth's multiplicative hash */
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % size;
  return (size_t)((unsigned __int128)(id - all->lowest) * size /
                  ((unsigned __int128)(all->highest - all->lowest) + 1));
}

static struct ids find_range(const uint64_t *id, size_t count) {
  const size_t size = (size_t)comm_size();
  uint64_t range[2] = {UINT64_MAX, 0},
           *ranges = allocate(size, sizeof range, "the check of particle ids");
  for (size_t i = 0; i < count; i++) {
    if (id[i] < range[0]) range[0] = id[i];
    if (id[i] > range[1]) range[1] = id[i];
  }
  comm_gather_all(range, sizeof range, ranges);
  struct ids all = {.lowest = UINT64_MAX};
  for (size_t r = 0; r < size; r++) {
    if (ranges[2 * r] < all.lowest) all.lowest = ranges[2 * r];
    if (ranges[2 * r + 1] > all.highest) all.highest = ranges[2 * r + 1];
  }
  free(ranges);
  return all;
}

/** Bytes of ids sent to and received from each rank.
 * @return the largest number that any rank receives */
static size_t count_ids(const struct particles *s, const struct ids *all, size_t *send,
                        size_t *receive) {
  memset(send, 0, (size_t)comm_size() * sizeof *send);
  for (size_t i = 0; i < s->count; i++) send[owner(all, s->id[i])] += sizeof *s->id;
  comm_exchange_sizes(send, receive);
  double most = 0.0;
  for (int r = 0; r < comm_size(); r++) most += (double)receive[r];
  comm_max_double(&most, 1);
  return (size_t)most;
}

/** Gather the ids that this rank is responsible for. */
static uint64_t *gather_ids(const struct particles *s, struct ids *all, size_t *count) {
  const size_t size = (size_t)comm_size(), share = s->all / size + 1;
  size_t *send = allocate(3 * size, sizeof *send, "message sizes"), *receive = send + size,
         *end = receive + size;
  /* a few ids are far from the others */
  if (count_ids(s, all, send, receive) > 2 * share * sizeof *s->id) {
    all->scattered = true;
    count_ids(s, all, send, receive);
  }
  for (size_t r = 1; r < size; r++) end[r] = end[r - 1] + send[r - 1] / sizeof *s->id;
  uint64_t *packed = allocate(s->count, sizeof *packed, "the check of particle ids");
  for (size_t i = 0; i < s->count; i++) packed[end[owner(all, s->id[i])]++] = s->id[i];
  size_t bytes = 0;
  for (size_t r = 0; r < size; r++) bytes += receive[r];
  uint64_t *ids = allocate(bytes, 1, "the check of particle ids");
  comm_exchange(packed, send, ids, receive);
  free(packed);
  free(send);
  *count = bytes / sizeof *ids;
  return ids;
}

_Noreturn static void fail_twice(const char *path, uint64_t id) {
  fail(EXIT_BAD_INPUT, "%s: id %" PRIu64 " stands for more than one particle", path, id);
}

static int compare_ids(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/** Check ids of a grid, the usual case: one bit for each possible id needs little memory. */
static void check_dense(const uint64_t *id, size_t count, uint64_t lowest, uint64_t range,
                        const char *path) {
  uint64_t *seen = allocate((size_t)(range / 64 + 1), sizeof *seen, "the check of particle ids");
  for (size_t i = 0; i < count; i++) {
    const uint64_t place = id[i] - lowest, bit = UINT64_C(1) << (place % 64);
    if (seen[place / 64] & bit) fail_twice(path, id[i]);
    seen[place / 64] |= bit;
  }
  free(seen);
}

static void check_sparse(const uint64_t *id, size_t count, const char *path) {
  uint64_t *sorted = allocate(count, sizeof *sorted, "the check of particle ids");
  memcpy(sorted, id, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_ids);
  for (size_t i = 1; i < count; i++)
    if (sorted[i] == sorted[i - 1]) fail_twice(path, sorted[i]);
  free(sorted);
}

void gadget_check_ids(const struct particles *s, const char *path) {
  struct ids all = find_range(s->id, s->count);
  size_t count = s->count;
  uint64_t *gathered = comm_size() > 1 ? gather_ids(s, &all, &count) : NULL;
  const uint64_t *id = gathered ? gathered : s->id;
  uint64_t lowest = UINT64_MAX, highest = 0;
  for (size_t i = 0; i < count; i++) {
    if (id[i] < lowest) lowest = id[i];
    if (id[i] > highest) highest = id[i];
  }
  if (count > 0 && (highest - lowest) / 64 < count)
    check_dense(id, count, lowest, highest - lowest, path);
  else
    check_sparse(id, count, path);
  free(gathered);
  comm_barrier(); /* no rank continues before all ids are checked */
}
