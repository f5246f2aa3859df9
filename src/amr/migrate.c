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

static uint32_t own_groups(const struct gas_level *l) { return l->mine.end - l->mine.first; }

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
 * @param k  in and out: the old own group from which on to search */
static struct gas_batch *same_batch(const struct old_level *old, const uint64_t *key,
                                    uint32_t count, uint32_t *k) {
  const struct gas_level *l = &old->level;
  *k = key_from(old->key, own_groups(l), *k, key[0]);
  const uint32_t group = l->mine.first + *k;
  if (!is_in_span(l->mine, group) || group % l->batch_groups != 0) return NULL;
  struct gas_batch *b = &l->batch[group / l->batch_groups - l->begin];
  return b->count == count && memcmp(old->key + *k, key, count * sizeof *key) == 0 ? b : NULL;
}

void old_level_keep(struct old_level *old, struct gas *g, int level) {
  const uint64_t *key = g->topology.level[level].key;
  struct gas_level *l = &g->level[level];
  if (old->count == 0) return;
  l->now = old->level.now;
  memcpy(l->potential, old->level.potential, sizeof l->potential);
  for (uint32_t i = 0, k = 0; i < l->own; i++) {
    struct gas_batch *b = &l->batch[i],
                     *same = same_batch(old, key + (b->first - l->mine.first), b->count, &k);
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
  uint32_t old, new; /* old: NO_GROUP where another rank had it */
  int from, to;
};

struct stays {
  struct stay *stay;
  size_t count;
};

/** The groups that this rank had and that stay, in their order, but those whose batches were kept. Collective. */
static struct stays find_had(const struct old_level *old, struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  struct stays s = {allocate(own_groups(&old->level), sizeof *s.stay, "patch groups"), 0};
  struct key_wants wants = {0};
  const uint64_t *key = old->key;
  topology_want_keys(&wants, &g->topology, level, key, own_groups(&old->level));
  topology_fetch(&g->topology, &wants);
  for (uint32_t k = 0, latest = 0; k < own_groups(&old->level); k++) {
    const uint32_t number = old->level.mine.first + k;
    if (!cells_with(old, number)) continue; /* kept */
    const uint32_t new = topology_with_next_key(&g->topology, level, key[k], &latest);
    if (new == NO_GROUP) continue;
    const bool mine = is_in_span(l->mine, new);
    s.stay[s.count++] = (struct stay){number, new, comm_rank(),
                                      mine ? comm_rank() : gas_owner(g, level, new)};
  }
  return s;
}

static int compare_stays(const void *a, const void *b) {
  const struct stay *x = a, *y = b;
  return (x->new > y->new) - (x->new < y->new);
}

/** Add the groups that other ranks had and this one has: their old owners tell their numbers. Collective. */
static void add_coming(struct stays *s) {
  const size_t had = s->count;
  uint32_t *number = allocate(had, sizeof *number, "patch groups");
  struct sparse_pieces to = {0}, from;
  size_t sent = 0;
  for (size_t i = 0; i < had; i++) {
    if (s->stay[i].to == comm_rank()) continue;
    sparse_add(&to, s->stay[i].to, sizeof *number);
    number[sent++] = s->stay[i].new;
  }
  uint32_t *told = comm_exchange_sparse(number, &to, &from);
  const size_t coming = sparse_bytes(&from) / sizeof *told;
  s->stay = reallocate(s->stay, had + coming + 1, sizeof *s->stay, "patch groups");
  for (size_t r = 0, k = 0; r < from.ranks; r++)
    for (size_t end = k + from.bytes[r] / sizeof *told; k < end; k++)
      s->stay[s->count++] = (struct stay){NO_GROUP, told[k], from.rank[r], comm_rank()};
  if (coming > 0) qsort(s->stay, s->count, sizeof *s->stay, compare_stays);
  sparse_free(&from);
  sparse_free(&to);
  free(told);
  free(number);
}

/** The groups that stay and that this rank had or has, in their order; free() it. Collective. */
static struct stay *find_stays(const struct old_level *old, struct gas *g, int level,
                               uint32_t *count) {
  struct stays s = find_had(old, g, level);
  if (comm_size() > 1) add_coming(&s);
  *count = (uint32_t)s.count;
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
