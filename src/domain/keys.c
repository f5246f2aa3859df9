/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Medians of particles in the memory of one rank, and the order of particles that they define. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/domain/group_sort.h"
#include "photons/domain/tree.h"
#include "photons/runtime/parts.h"

static inline uint64_t key_value(const struct key *k, int axis) {
  return (uint64_t)k->x[axis] << 32 | k->index;
}

/** A pivot close to the rank-th of n keys: the same order statistic of a regular sample of them. */
static uint64_t choose_pivot(const struct key *keys, size_t n, size_t rank, int axis) {
  enum { SAMPLE_MOST = 63 };
  uint64_t sample[SAMPLE_MOST];
  const size_t size = n < 512 ? 7 : n < 8192 ? 21 : SAMPLE_MOST;
  for (size_t i = 0; i < size; i++) { /* insertion sort of the sample */
    uint64_t value = key_value(&keys[(2 * i + 1) * n / (2 * size)], axis);
    size_t j = i;
    for (; j > 0 && sample[j - 1] > value; j--) sample[j] = sample[j - 1];
    sample[j] = value;
  }
  return sample[rank * size / n];
}

/** Move keys with value < pivot to the front; returns their number. There are no branches that
 * depend on the data, which processors would mispredict. */
static size_t partition(struct key *keys, size_t n, uint64_t pivot, int axis) {
  size_t front = 0;
  for (size_t i = 0; i < n; i++) {
    struct key k = keys[i];
    keys[i] = keys[front];
    keys[front] = k;
    front += key_value(&k, axis) < pivot;
  }
  return front;
}

static void insertion_sort(struct key *keys, size_t n, int axis) {
  for (size_t i = 1; i < n; i++) {
    struct key k = keys[i];
    size_t j = i;
    for (; j > 0 && key_value(&keys[j - 1], axis) > key_value(&k, axis); j--) keys[j] = keys[j - 1];
    keys[j] = k;
  }
}

/** Arrange keys so that the first `rank` are the smallest along the axis (quickselect). */
static void select_rank(struct key *keys, size_t n, size_t rank, int axis) {
  while (n > 24 && rank > 0 && rank < n) {
    uint64_t pivot = choose_pivot(keys, n, rank, axis);
    size_t front = partition(keys, n, pivot, axis);
    /* If the pivot is the smallest key, split off this key alone. */
    if (front == 0) front = partition(keys, n, pivot + 1, axis);
    if (rank <= front) {
      n = front;
    } else {
      keys += front;
      n -= front;
      rank -= front;
    }
  }
  if (rank > 0 && rank < n) insertion_sort(keys, n, axis);
}

void keys_cut(struct key *keys, size_t n, size_t rank, unsigned level, uint32_t groups) {
  uint32_t low[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, high[3] = {0, 0, 0};
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      low[c] = keys[i].x[c] < low[c] ? keys[i].x[c] : low[c];
      high[c] = keys[i].x[c] > high[c] ? keys[i].x[c] : high[c];
    }
  select_rank(keys, n, rank, side_to_cut(level, groups, low, high));
}

/** Keys that are brought in the order of a tree. */
struct tree_keys {
  struct key *keys;
  uint32_t count;
  unsigned depth, level; /* level: of the roots of subtrees that are parts */
};

static void cut_node(const struct tree_keys *t, uint32_t node) {
  const uint32_t first = node_first(t->count, node);
  keys_cut(t->keys + first, node_end(t->count, node) - first, node_end(t->count, 2 * node) - first,
           0, 1);
}

static void cut_subtree(void *context, uint32_t i) {
  const struct tree_keys *t = context;
  const uint32_t root = (1u << t->level) + i;
  for (unsigned below = 0; t->level + below < t->depth; below++)
    for (uint32_t node = root << below; node < (root + 1) << below; node++) cut_node(t, node);
}

void keys_into_tree(struct key *keys, uint32_t count, unsigned depth) {
  while ((count >> depth) + 1 > TREE_BLOCK) depth++; /* on below the leaves, down to TREE_BLOCK */
  struct tree_keys t = {keys, count, depth, subtree_level(count, depth)};
  for (uint32_t node = 1; node < 1u << t.level; node++) cut_node(&t, node);
  parts_run(1u << t.level, cut_subtree, &t);
}

/** values[c][i] = old[c][keys[i].index] for numbers of one size. */
#define PERMUTE(type)                     \
  for (size_t c = 0; c < components; c++) \
    for (size_t i = 0; i < count; i++)    \
  ((type *)values)[c * count + i] = ((const type *)old)[c * count + keys[i].index]

static void permute(const struct key *keys, size_t count, const struct particle_column *column,
                    void *values, void *old) {
  const size_t components = column->components;
  memcpy(old, values, count * particle_column_bytes(column));
  if (column->size == 8)
    PERMUTE(uint64_t);
  else if (column->size == 4)
    PERMUTE(uint32_t);
  else
    PERMUTE(uint8_t);
}

/** Bring all columns in the order of the keys. */
static void permute_all(const struct key *keys, uint32_t count,
                        void *const column[PARTICLE_COLUMN_COUNT]) {
  column_set columns = 0;
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    if (column[k]) columns |= (column_set)1 << k;
  void *old = allocate(count, columns_widest(columns), "particles of a group");
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    if (column[k]) permute(keys, count, &particle_columns[k], column[k], old);
  free(old);
}

void group_sort(uint32_t count, unsigned depth, const uint32_t centre[3],
                void *const column[PARTICLE_COLUMN_COUNT]) {
  struct key *keys = allocate(count, sizeof *keys, "keys of a group");
  uint32_t *x = column[COLUMN_position], origin[3];
  /* The origin is half a box below the centre, so that relative coordinates do not wrap inside a
   * group. */
  for (int c = 0; c < 3; c++) origin[c] = centre[c] + (1u << 31);
  for (uint32_t i = 0; i < count; i++)
    keys[i] = (struct key){
        {x[i] - origin[0], x[count + i] - origin[1], x[2 * (size_t)count + i] - origin[2]}, i};
  keys_into_tree(keys, count, depth);
  permute_all(keys, count, column);
  free(keys);
}

void group_order(uint32_t count, const uint16_t *side, uint32_t sides,
                 void *const column[PARTICLE_COLUMN_COUNT]) {
  struct key *keys = allocate(count, sizeof *keys, "keys of a group");
  uint32_t *next = allocate((size_t)sides + 1, sizeof *next, "sides of a group");
  for (uint32_t i = 0; i < count; i++) next[side[i] + 1]++;
  for (uint32_t s = 0; s < sides; s++) next[s + 1] += next[s];
  for (uint32_t i = 0; i < count; i++) keys[next[side[i]]++].index = i;
  permute_all(keys, count, column);
  free(next);
  free(keys);
}
