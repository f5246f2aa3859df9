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
  struct gas_tree_level *tree = &g->topology.level[level];
  struct old_level old = {.count = tree->count, .key = tree->key};
  tree->key = NULL; /* topology_replace() brings others */
  old.level = gas_take_level(g, level);
  return old;
}

/** The first of some keys, which rise, that is not below one; from one of them on. */
static uint32_t key_from(const uint64_t *keys, uint32_t count, uint32_t begin, uint64_t key) {
  if (begin < count && keys[begin] >= key) return begin;
  uint32_t low = begin, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/** This rank's old batch whose groups have these keys; NULL: there is none.
 * @param k  in and out: number of the old group from which on to search */
static struct gas_batch *same_batch(const struct old_level *old, const uint64_t *key,
                                    uint32_t count, uint32_t *k) {
  const struct gas_level *l = &old->level;
  *k = key_from(old->key, old->count, *k, key[0]);
  if (!is_in_span(l->mine, *k) || *k % l->batch_groups != 0) return NULL;
  struct gas_batch *b = &l->batch[*k / l->batch_groups - l->begin];
  return b->count == count && memcmp(old->key + *k, key, count * sizeof *key) == 0 ? b : NULL;
}

void old_level_keep(struct old_level *old, struct gas *g, int level) {
  const uint64_t *key = g->topology.level[level].key;
  struct gas_level *l = &g->level[level];
  if (old->count == 0) return;
  l->now = old->level.now;
  memcpy(l->potential, old->level.potential, sizeof l->potential);
  for (uint32_t i = 0, k = 0; i < l->own; i++) {
    struct gas_batch *b = &l->batch[i], *same = same_batch(old, key + b->first, b->count, &k);
    if (!same) continue;
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

/** The old batch of this rank with an old group. */
static const struct gas_batch *batch_with(const struct old_level *old, uint32_t group) {
  return &old->level.batch[group / old->level.batch_groups - old->level.begin];
}

/** The cells of this. NULL: the batch was kept. */
static starpu_data_handle_t cells_with(const struct old_level *old, uint32_t group) {
  return batch_with(old, group)->handle[old->level.now];
}

/** A group that stays: its numbers, and the ranks that had and have it. */
struct stay {
  uint32_t old, new;
  int from, to;
};

/** Old and new numbers of groups that stay, of a range of new or old groups. */
struct stays {
  const struct old_level *old;
  const struct gas *gas;
  int level;
  struct stay *stay;
  uint32_t count, room;
};

static void add_stay(struct stays *s, uint32_t old, uint32_t new) {
  const struct gas_level *before = &s->old->level;
  const int me = comm_rank();
  struct stay stay = {old, new, me, me};
  if (!is_in_span(before->mine, old))
    stay.from = (int)block_containing(before->batch_count, (size_t)comm_size(),
                                      old / before->batch_groups);
  if (!is_in_span(s->gas->level[s->level].mine, new)) stay.to = gas_owner(s->gas, s->level, new);
  if (stay.from == me && !cells_with(s->old, old)) return; /* kept */
  if (s->count == s->room)
    s->stay = reallocate(s->stay, s->room = 2 * s->room + 64, sizeof *s->stay, "patch groups");
  s->stay[s->count++] = stay;
}

/** Add this rank's old groups whose new numbers are in a range. */
static void add_old(struct stays *s, struct group_span new) {
  const struct gas_tree_level *tree = &s->gas->topology.level[s->level];
  const uint64_t *key = s->old->key;
  for (uint32_t k = s->old->level.mine.first, i = 0; k < s->old->level.mine.end; k++) {
    i = key_from(tree->key, tree->count, i, key[k]);
    if (i < tree->count && tree->key[i] == key[k] && is_in_span(new, i)) add_stay(s, k, i);
  }
}

/** Add this rank's new groups. */
static void add_new(struct stays *s, struct group_span new) {
  const uint64_t *key = s->gas->topology.level[s->level].key;
  for (uint32_t i = new.first, k = 0; i < new.end; i++) {
    k = key_from(s->old->key, s->old->count, k, key[i]);
    if (k < s->old->count && s->old->key[k] == key[i]) add_stay(s, k, i);
  }
}

/** The groups that stay and that this rank had or has, in their order; free() it. */
static struct stay *find_stays(const struct old_level *old, const struct gas *g, int level,
                               uint32_t *count) {
  const struct group_span mine = g->level[level].mine;
  struct stays s = {.old = old, .gas = g, .level = level};
  add_old(&s, (struct group_span){0, mine.first});
  add_new(&s, mine);
  add_old(&s, (struct group_span){mine.end, g->topology.level[level].count});
  *count = s.count;
  return s.stay;
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
    const starpu_data_handle_t cells = cells_with(old, stay[i].old);
    if (cells != held) {
      if (held) starpu_data_release(held);
      handle_acquire(held = cells, STARPU_R);
      g->counts.host_bytes += batch_with(old, stay[i].old)->cell_bytes;
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
  struct gas_moves *moves = allocate(l->own, sizeof *moves, "batches of groups");
  for (uint32_t i = 0; i < l->own; i++) {
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
    struct gas_moves *m = &moves[stay[i].new / groups - g->level[level].begin];
    const bool mine = stay[i].from == comm_rank();
    m->move[stay[i].new % groups] = (struct gas_move){
        data_number(m, mine ? cells_with(old, stay[i].old) : old->received),
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

double gas_replaced_bytes(const struct gas *g) {
  return g->replaced ? (double)g->replaced->old.count * (double)gas_group_bytes(g) : 0.0;
}

void gas_forget_replaced(struct gas *g) {
  if (!g->replaced) return;
  moves_free(g->replaced->moves, g->replaced->batches);
  old_level_free(&g->replaced->old);
  free(g->replaced);
  g->replaced = NULL;
}
