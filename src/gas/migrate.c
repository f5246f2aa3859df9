/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "migrate.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

struct old_level old_level_take(struct gas *g, int level) {
  const struct gas_tree_level *tree = &g->topology.level[level];
  struct old_level old = {.count = tree->count};
  old.key = allocate(old.count, sizeof *old.key, "patch groups");
  if (old.count > 0) memcpy(old.key, tree->key, old.count * sizeof *old.key);
  old.level = gas_take_level(g, level);
  return old;
}

/** The old batch whose groups have these keys; NULL: there is none.
 * @param k  in and out: number of the old group from which on to search */
static struct gas_batch *same_batch(const struct old_level *old, const struct gas *g,
                                    const uint64_t *key, uint32_t count, uint32_t *k) {
  while (*k < old->count && old->key[*k] < key[0]) ++*k;
  if (*k >= old->count || *k % g->batch != 0) return NULL;
  struct gas_batch *b = &old->level.batch[*k / g->batch];
  return b->count == count && memcmp(old->key + *k, key, count * sizeof *key) == 0 ? b : NULL;
}

/** Whether this rank had an old group. */
static bool had(const struct old_level *old, const struct gas *g, uint32_t group) {
  return (int)block_containing(old->level.batch_count, (size_t)comm_size(), group / g->batch) ==
         comm_rank();
}

void old_level_keep(struct old_level *old, struct gas *g, int level) {
  const uint64_t *key = g->topology.level[level].key;
  struct gas_level *l = &g->level[level];
  if (old->count == 0) return;
  l->now = old->level.now;
  memcpy(l->potential, old->level.potential, sizeof l->potential);
  for (uint32_t i = 0, k = 0; i < l->batch_count; i++) {
    struct gas_batch *b = &l->batch[i], *same = same_batch(old, g, key + b->first, b->count, &k);
    if (!same || !gas_is_own(g, level, i) || !had(old, g, k)) continue;
    const uint32_t first = b->first;
    *b = *same;
    b->first = first;
    *same = (struct gas_batch){.first = same->first, .count = same->count};
  }
  for (uint32_t i = 0; i < old->level.batch_count; i++)
    g->host_bytes += old->level.batch[i].cell_bytes;
  gas_unregister_level(&old->level);
}

void old_level_free(struct old_level *old) {
  gas_free_level(&old->level);
  free(old->key);
  free(old->received);
}

/** A group that stays: its numbers, and the ranks that had and have it. */
struct stay {
  uint32_t old, new;
  int from, to;
};

/** The groups that stay and that this rank had or has, in their order; free() it. */
static struct stay *find_stays(const struct old_level *old, const struct gas *g, int level,
                               uint32_t *count) {
  const struct gas_tree_level *tree = &g->topology.level[level];
  const size_t batches = old->level.batch_count, ranks = (size_t)comm_size();
  struct stay *stay = allocate(old->count, sizeof *stay, "patch groups");
  *count = 0;
  for (uint32_t i = 0, k = 0; i < tree->count; i++) {
    while (k < old->count && old->key[k] < tree->key[i]) k++;
    if (k == old->count || old->key[k] != tree->key[i]) continue;
    const int from = (int)block_containing(batches, ranks, k / g->batch),
              to = gas_owner(g, level, i);
    if (from == comm_rank() && !old->level.batch[k / g->batch].cells[0]) continue; /* kept */
    if (from == comm_rank() || to == comm_rank()) stay[(*count)++] = (struct stay){k, i, from, to};
  }
  return stay;
}

/** Old cells of a group that this rank had. */
static const char *cells_of(const struct old_level *old, const struct gas *g, uint32_t group) {
  const struct gas_batch *b = &old->level.batch[group / g->batch];
  return (const char *)b->cells[old->level.now] + (group - b->first) * gas_group_bytes(g);
}

/** Exchange the cells of groups that change their ranks. Pieces of buffers are in the order of
 * ranks, since both old and new ranks rise with the groups. */
static void exchange(struct old_level *old, const struct gas *g, const struct stay *stay,
                     uint32_t count) {
  const size_t ranks = (size_t)comm_size(), bytes = gas_group_bytes(g);
  size_t *bytes_of = allocate(2 * ranks, sizeof *bytes_of, "message sizes");
  size_t sent = 0, received = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (stay[i].from == stay[i].to) continue;
    const bool mine = stay[i].from == comm_rank();
    bytes_of[mine ? (size_t)stay[i].to : ranks + (size_t)stay[i].from] += bytes;
    *(mine ? &sent : &received) += bytes;
  }
  char *send = allocate(sent, 1, "cells for other ranks"), *next = send;
  old->received = allocate(received, 1, "cells from other ranks");
  for (uint32_t i = 0; i < count; i++) {
    if (stay[i].from != comm_rank() || stay[i].to == comm_rank()) continue;
    memcpy(next, cells_of(old, g, stay[i].old), bytes);
    next += bytes;
  }
  comm_exchange(send, bytes_of, old->received, bytes_of + ranks);
  free(send);
  free(bytes_of);
}

const char **old_level_migrate(struct old_level *old, const struct gas *g, int level) {
  const uint32_t first = gas_first_group(g, level, comm_rank());
  const uint32_t own = gas_first_group(g, level, comm_rank() + 1) - first;
  const char **found = allocate(own, sizeof *found, "patch groups");
  uint32_t count;
  struct stay *stay = find_stays(old, g, level, &count);
  if (comm_size() > 1) exchange(old, g, stay, count);
  const char *next = old->received;
  for (uint32_t i = 0; i < count; i++) {
    if (stay[i].to != comm_rank()) continue;
    const bool mine = stay[i].from == comm_rank();
    found[stay[i].new - first] = mine ? cells_of(old, g, stay[i].old) : next;
    if (!mine) next += gas_group_bytes(g);
  }
  free(stay);
  return found;
}
