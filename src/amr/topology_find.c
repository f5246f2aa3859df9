/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where groups are, and which ones: by keys, and among those that this rank knows. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "topology_keys.h"

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

uint32_t keys_from(const uint64_t *keys, uint32_t count, uint64_t key) {
  uint32_t low = 0;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (keys[low + half] < key) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

uint32_t pieces_till(const struct key_pieces *p, uint64_t key) {
  uint32_t low = 0, count = p->count;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (p->piece[low + half].range.begin <= key) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

const struct key_piece *piece_with(const struct gas_tree_level *l, uint64_t key) {
  for (int use = 0; use < KEY_USES; use++) { /* tasks find theirs in the first */
    const struct key_pieces *p = &l->told[use];
    const uint32_t n = pieces_till(p, key);
    if (n > 0 && is_in_range(p->piece[n - 1].range, key)) return &p->piece[n - 1];
  }
  return NULL;
}

/** The group with a key among some consecutive ones. */
static uint32_t with_key_in(struct group_span groups, const uint64_t *keys, uint64_t key) {
  const uint32_t count = groups.end - groups.first, at = keys_from(keys, count, key);
  return at < count && keys[at] == key ? groups.first + at : NO_GROUP;
}

uint32_t topology_with_key(const struct topology *t, int level, uint64_t key) {
  const struct gas_tree_level *l = &t->level[level];
  if (is_in_range(l->own_range, key)) return with_key_in(l->own, l->key, key);
  if (level == 0) return root_with_key(t->root, key);
  const struct key_piece *p = piece_with(l, key);
  if (!p) {
    uint32_t place[3];
    morton_place(key, place);
    fail(EXIT_RUN_FAILED,
         "patch groups at (%u, %u, %u) of level %d are far from those of this rank", place[0],
         place[1], place[2], level);
  }
  return with_key_in(p->groups, p->key, key);
}

uint32_t topology_with_next_key(const struct topology *t, int level, uint64_t key,
                                uint32_t *latest) {
  const struct gas_tree_level *l = &t->level[level];
  const uint32_t own = l->own.end - l->own.first;
  if (!is_in_range(l->own_range, key)) return topology_with_key(t, level, key);
  if (*latest < own && l->key[*latest] < key) (*latest)++;
  if (*latest < own && l->key[*latest] < key)
    *latest += keys_from(l->key + *latest, own - *latest, key);
  return *latest < own && l->key[*latest] == key ? l->own.first + *latest : NO_GROUP;
}

/** The piece with a group; NULL: there is none. Of pieces that begin with the same number only the last one has groups. */
static const struct key_piece *piece_of(const struct key_pieces *p, uint32_t group) {
  uint32_t low = 0, count = p->count;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (p->piece[low + half].groups.first <= group) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low > 0 && is_in_span(p->piece[low - 1].groups, group) ? &p->piece[low - 1] : NULL;
}

uint64_t topology_key_of_other(const struct topology *t, int level, uint32_t group) {
  if (level == 0) return root_key(t->root, group);
  const struct key_piece *p = NULL;
  for (int use = 0; use < KEY_USES && !p; use++) p = piece_of(&t->level[level].told[use], group);
  if (!p) topology_lacks(t, level, group);
  return p->key[group - p->groups.first];
}

uint32_t topology_find(const struct topology *t, int level, const int64_t place[3]) {
  uint32_t image[3];
  for (int c = 0; c < 3; c++) {
    const int64_t side = (int64_t)t->root[c] << level;
    const bool inside = place[c] >= 0 && place[c] < side;
    if (!inside && t->boundary[c][0] != GAS_PERIODIC) return NO_GROUP;
    image[c] = (uint32_t)((place[c] + side) % side);
  }
  return topology_with_key(t, level, morton_key(image));
}

uint32_t topology_ancestor(const struct topology *t, int level, uint32_t group, int coarser) {
  if (coarser == level) return group;
  const struct gas_group *known = topology_known(t, level, group);
  if (known) return topology_ancestor(t, level - 1, known->father, coarser);
  return topology_with_key(t, coarser, topology_key(t, level, group) >> 3 * (level - coarser));
}

void topology_place(const struct topology *t, int level, uint32_t group, uint32_t place[3]) {
  const struct gas_group *known = topology_known(t, level, group);
  if (known)
    memcpy(place, known->place, sizeof known->place);
  else
    morton_place(topology_key(t, level, group), place);
}

uint32_t topology_son(const struct topology *t, int level, uint32_t group, int patch) {
  const struct gas_group *known = topology_known(t, level, group);
  if (known) return known->son[patch];
  if (level == t->finest) return NO_GROUP;
  return topology_with_key(t, level + 1, topology_key(t, level, group) << 3 | (uint64_t)patch);
}

struct group_span topology_own_below(const struct topology *t, int level, uint64_t key, int finer) {
  const struct gas_tree_level *l = &t->level[finer];
  const uint32_t own = l->own.end - l->own.first;
  const int bits = 3 * (finer - level);
  return (struct group_span){l->own.first + keys_from(l->key, own, key << bits),
                             l->own.first + keys_from(l->key, own, (key + 1) << bits)};
}

int topology_levels(const struct topology *t) {
  int levels = 0;
  while (levels <= t->finest && t->level[levels].count > 0) levels++;
  return levels;
}
