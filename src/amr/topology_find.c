/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where groups are, and which ones: by keys, and among those that this rank knows. */
#include <stdlib.h>
#include <string.h>

#include "photons/amr/topology.h"
#include "photons/base/error.h"

enum { KEY_BITS = 21 }; /* of a coordinate */

/** The bits of a coordinate, two zeros after each. */
static uint64_t spread(uint32_t coordinate) {
  uint64_t key = 0;
  for (int b = 0; b < KEY_BITS; b++) key |= (uint64_t)(coordinate >> b & 1) << 3 * b;
  return key;
}

static uint32_t gather(uint64_t key) {
  uint32_t coordinate = 0;
  for (int b = 0; b < KEY_BITS; b++) coordinate |= (uint32_t)(key >> 3 * b & 1) << b;
  return coordinate;
}

uint64_t morton_key(const uint32_t place[3]) {
  return spread(place[0]) | spread(place[1]) << 1 | spread(place[2]) << 2;
}

void morton_place(uint64_t key, uint32_t place[3]) {
  for (int c = 0; c < 3; c++) place[c] = gather(key >> c);
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** The place of a group among the known ones of other ranks; l->others: it is not known. */
static uint32_t other_at(const struct gas_tree_level *l, uint32_t group) {
  const uint32_t *found = l->others
                              ? bsearch(&group, l->other, l->others, sizeof group, compare_numbers)
                              : NULL;
  return found ? (uint32_t)(found - l->other) : l->others;
}

const struct gas_group *topology_other(const struct topology *t, int level, uint32_t group) {
  const struct gas_tree_level *l = &t->level[level];
  const uint32_t at = other_at(l, group);
  return at < l->others ? &l->other_group[at] : NULL;
}

void topology_lacks(const struct topology *t, int level, uint32_t group) {
  const struct gas_tree_level *l = &t->level[level];
  fail(EXIT_RUN_FAILED, "patch group %u of %u of level %d is far from those of this rank, %u to %u",
       group, l->count, level, l->own.first, l->own.end);
}

/** The first group with a key, or with one after it. */
static uint32_t first_from(const struct gas_tree_level *l, uint64_t key) {
  uint32_t low = 0, count = l->count;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (l->key[low + half] < key) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

/** The group with a key; NO_GROUP: there is none. */
static uint32_t find_key(const struct gas_tree_level *l, uint64_t key) {
  const uint32_t found = first_from(l, key);
  return found < l->count && l->key[found] == key ? found : NO_GROUP;
}

uint32_t topology_find(const struct topology *t, int level, const int64_t place[3]) {
  uint32_t image[3];
  for (int c = 0; c < 3; c++) {
    const int64_t side = (int64_t)t->root[c] << level;
    const bool inside = place[c] >= 0 && place[c] < side;
    if (!inside && t->boundary[c][0] != GAS_PERIODIC) return NO_GROUP;
    image[c] = (uint32_t)((place[c] + side) % side);
  }
  return find_key(&t->level[level], morton_key(image));
}

uint32_t topology_ancestor(const struct topology *t, int level, uint32_t group, int coarser) {
  if (coarser == level) return group;
  const struct gas_group *known = topology_known(t, level, group);
  if (known) return topology_ancestor(t, level - 1, known->father, coarser);
  return find_key(&t->level[coarser], t->level[level].key[group] >> 3 * (level - coarser));
}

void topology_place(const struct topology *t, int level, uint32_t group, uint32_t place[3]) {
  const struct gas_group *known = topology_known(t, level, group);
  if (known)
    memcpy(place, known->place, sizeof known->place);
  else
    morton_place(t->level[level].key[group], place);
}

uint32_t topology_son(const struct topology *t, int level, uint32_t group, int patch) {
  const struct gas_group *known = topology_known(t, level, group);
  if (known) return known->son[patch];
  if (level == t->finest) return NO_GROUP;
  return find_key(&t->level[level + 1], t->level[level].key[group] << 3 | (uint64_t)patch);
}

uint32_t topology_first_below(const struct topology *t, int level, uint64_t key, int finer) {
  return first_from(&t->level[finer], key << 3 * (finer - level));
}

int topology_levels(const struct topology *t) {
  int levels = 0;
  while (levels <= t->finest && t->level[levels].count > 0) levels++;
  return levels;
}
