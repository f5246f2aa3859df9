/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/migrate.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/handle.h"

struct gas_replaced {
  struct old_level old;
  struct gas_moves *moves;
  uint32_t batches;
};

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
static struct gas_batch *same_batch(const struct old_level *old, const uint64_t *key,
                                    uint32_t count, uint32_t *k) {
  while (*k < old->count && old->key[*k] < key[0]) ++*k;
  if (*k >= old->count || *k % old->level.batch_groups != 0) return NULL;
  struct gas_batch *b = &old->level.batch[*k / old->level.batch_groups];
  return b->count == count && memcmp(old->key + *k, key, count * sizeof *key) == 0 ? b : NULL;
}

/** Whether this rank had an old group. */
static bool had(const struct old_level *old, uint32_t group) {
  return (int)block_containing(old->level.batch_count, (size_t)comm_size(),
                               group / old->level.batch_groups) == comm_rank();
}

void old_level_keep(struct old_level *old, struct gas *g, int level) {
  const uint64_t *key = g->topology.level[level].key;
  struct gas_level *l = &g->level[level];
  if (old->count == 0) return;
  l->now = old->level.now;
  memcpy(l->potential, old->level.potential, sizeof l->potential);
  for (uint32_t i = 0, k = 0; i < l->batch_count; i++) {
    struct gas_batch *b = &l->batch[i], *same = same_batch(old, key + b->first, b->count, &k);
    if (!same || !gas_is_own(g, level, i) || !had(old, k)) continue;
    const uint32_t first = b->first;
    *b = *same;
    b->first = first;
    *same = (struct gas_batch){.first = same->first, .count = same->count, .room = same->room};
  }
}

void old_level_free(struct old_level *old) {
  gas_free_level(&old->level);
  handle_drop(&old->received);
  free(old->key);
}

/** NULL: the batch was kept. */
static starpu_data_handle_t cells_of(const struct old_level *old, uint32_t batch) {
  return old->level.batch[batch].handle[old->level.now];
}

/** A group that stays: its numbers, and the ranks that had and have it. */
struct stay {
  uint32_t old, new;
  int from, to;
};

/** The rank that has a batch: groups of a batch follow each other. */
struct rank_of_batch {
  uint32_t batch;
  int rank;
};

/** The groups that stay and that this rank had or has, in their order; free() it. */
static struct stay *find_stays(const struct old_level *old, const struct gas *g, int level,
                               uint32_t *count) {
  const struct gas_tree_level *tree = &g->topology.level[level];
  const size_t batches = old->level.batch_count, ranks = (size_t)comm_size();
  const int me = comm_rank();
  struct stay *stay = reallocate(NULL, (size_t)old->count + 1, sizeof *stay, "patch groups");
  struct rank_of_batch from = {UINT32_MAX, 0}, to = from;
  *count = 0;
  for (uint32_t i = 0, k = 0; i < tree->count; i++) {
    while (k < old->count && old->key[k] < tree->key[i]) k++;
    if (k == old->count || old->key[k] != tree->key[i]) continue;
    const uint32_t batch = k / old->level.batch_groups,
                   new_batch = i / g->level[level].batch_groups;
    if (batch != from.batch)
      from = (struct rank_of_batch){batch, (int)block_containing(batches, ranks, batch)};
    if (new_batch != to.batch) to = (struct rank_of_batch){new_batch, gas_owner(g, level, i)};
    if (from.rank == me && !cells_of(old, batch)) continue; /* kept */
    if (from.rank == me || to.rank == me)
      stay[(*count)++] = (struct stay){k, i, from.rank, to.rank};
  }
  return stay;
}

/** Whether a group goes to another rank. */
static bool leaves(const struct stay *s) { return s->from == comm_rank() && s->to != comm_rank(); }
static bool comes(const struct stay *s) { return s->to == comm_rank() && s->from != comm_rank(); }

/** Copy the groups that leave this rank, in their order. The host takes over one batch after the
 * other. */
static void pack(const struct old_level *old, struct gas *g, const struct stay *stay,
                 uint32_t count, char *packed) {
  const size_t bytes = gas_group_bytes(g);
  starpu_data_handle_t held = NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (!leaves(&stay[i])) continue;
    const starpu_data_handle_t cells = cells_of(old, stay[i].old / old->level.batch_groups);
    if (cells != held) {
      if (held) starpu_data_release(held);
      handle_acquire(held = cells, STARPU_R);
      g->counts.host_bytes += old->level.batch[stay[i].old / old->level.batch_groups].cell_bytes;
    }
    memcpy(packed,
           (char *)starpu_vector_get_local_ptr(cells) +
               stay[i].old % old->level.batch_groups * bytes,
           bytes);
    packed += bytes;
  }
  if (held) starpu_data_release(held);
}

/** Exchange the cells of groups that change their ranks. Pieces of buffers are in the order of
 * ranks, since both old and new ranks rise with the groups. */
static void exchange(struct old_level *old, struct gas *g, const struct stay *stay,
                     uint32_t count) {
  const size_t ranks = (size_t)comm_size(), bytes = gas_group_bytes(g);
  size_t *bytes_of = allocate(2 * ranks, sizeof *bytes_of, "message sizes");
  size_t sent = 0, received = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (leaves(&stay[i])) bytes_of[stay[i].to] += bytes, sent++;
    if (comes(&stay[i])) bytes_of[ranks + (size_t)stay[i].from] += bytes, received++;
  }
  char *send = allocate(sent, bytes, "cells for other ranks"), *receive = NULL;
  pack(old, g, stay, count, send);
  if (received > 0) {
    old->received = handle_make(received, bytes);
    handle_acquire(old->received, STARPU_W);
    receive = (char *)starpu_vector_get_local_ptr(old->received);
    g->counts.host_bytes += received * bytes;
  }
  comm_exchange(send, bytes_of, receive, bytes_of + ranks);
  if (received > 0) starpu_data_release(old->received);
  free(send);
  free(bytes_of);
}

/** The number of data among those of a batch, which has room for it. */
static uint32_t data_number(struct gas_moves *m, starpu_data_handle_t data) {
  uint32_t i = 0;
  while (i < m->count && m->data[i] != data) i++;
  if (i == m->count) m->data[m->count++] = data;
  return i;
}

/** Moves of the batches that were made anew, all groups of which are to be interpolated. */
static struct gas_moves *make_moves(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  struct gas_moves *moves = allocate(l->batch_count, sizeof *moves, "batches of groups");
  const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
  for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++) {
    const uint32_t count = l->batch[i].count;
    moves[i].move = allocate(count, sizeof *moves[i].move, "patch groups");
    moves[i].data = allocate(count, sizeof(starpu_data_handle_t), "batches of groups");
    for (uint32_t k = 0; k < count; k++) moves[i].move[k] = (struct gas_move){NO_GROUP, 0};
  }
  return moves;
}

struct gas_moves *old_level_migrate(struct old_level *old, struct gas *g, int level) {
  const uint32_t groups = g->level[level].batch_groups;
  uint32_t count, received = 0;
  struct stay *stay = find_stays(old, g, level, &count);
  struct gas_moves *moves = make_moves(g, level);
  if (comm_size() > 1) exchange(old, g, stay, count);
  for (uint32_t i = 0; i < count; i++) {
    if (stay[i].to != comm_rank()) continue;
    struct gas_moves *m = &moves[stay[i].new / groups];
    const bool mine = stay[i].from == comm_rank();
    m->move[stay[i].new % groups] = (struct gas_move){
        data_number(m, mine ? cells_of(old, stay[i].old / old->level.batch_groups) : old->received),
        mine ? stay[i].old % old->level.batch_groups : received++};
  }
  free(stay);
  return moves;
}

static void moves_free(struct gas_moves *moves, uint32_t batches) {
  for (uint32_t i = 0; i < batches; i++) {
    free(moves[i].move);
    free(moves[i].data);
  }
  free(moves);
}

void gas_keep_replaced(struct gas *g, struct old_level old, struct gas_moves *moves,
                       uint32_t batches) {
  g->replaced = allocate(1, sizeof *g->replaced, "a replaced level");
  *g->replaced = (struct gas_replaced){old, moves, batches};
}

void gas_forget_replaced(struct gas *g) {
  if (!g->replaced) return;
  moves_free(g->replaced->moves, g->replaced->batches);
  old_level_free(&g->replaced->old);
  free(g->replaced);
  g->replaced = NULL;
}
