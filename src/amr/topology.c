/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/topology.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "topology_links.h"

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

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
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

static struct group_span own_of(const struct topology *t, int level, uint32_t count) {
  if (!t->share) return (struct group_span){0, count};
  return t->share(t->sharing, level, count, comm_rank());
}

void topology_replace(struct topology *t, int level, uint64_t *keys, uint32_t count) {
  struct gas_tree_level *l = &t->level[level];
  free(l->key);
  l->key = keys;
  l->count = count;
  l->own = own_of(t, level, count);
  l->changes++;
  topology_link(t, level);
}

void topology_divide(struct topology *t, topology_share *share, const void *context) {
  t->share = share;
  t->sharing = context;
  t->level[0].own = own_of(t, 0, t->level[0].count);
  topology_link(t, 0);
}

struct group_span topology_of_nobody(const void *context, int level, uint32_t count, int rank) {
  (void)context;
  (void)level;
  (void)count;
  (void)rank;
  return (struct group_span){0, 0};
}

/** Fill in topology.step and topology.around. */
static void make_steps(struct topology *t) {
  for (int p = 0; p < 8; p++)
    for (int n = 0; n < NEIGHBOURS; n++) {
      const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      int group = 0, patch = 0;
      for (int c = 2; c >= 0; c--) {
        const int place = (p >> c & 1) + direction[c] + 2; /* of the patch, in groups' halves */
        patch |= (place & 1) << c;
        group = 3 * group + place / 2;
      }
      t->step[p][n] = (struct patch_step){(uint8_t)group, (uint8_t)patch};
      t->around[p] |= 1u << group;
    }
}

void topology_init(struct topology *t, const uint32_t root[3],
                   const enum gas_boundary boundary[3][2], int finest) {
  *t = (struct topology){.root = {root[0], root[1], root[2]}, .finest = finest};
  memcpy(t->boundary, boundary, sizeof t->boundary);
  make_steps(t);
  const uint32_t count = root[0] * root[1] * root[2];
  uint64_t *keys = allocate(count, sizeof *keys, "patch groups");
  for (uint32_t i = 0; i < count; i++)
    keys[i] = morton_key(
        (const uint32_t[3]){i % root[0], i / root[0] % root[1], i / root[0] / root[1]});
  qsort(keys, count, sizeof *keys, compare_keys);
  topology_replace(t, 0, keys, count);
}

void topology_free(struct topology *t) {
  for (int l = 0; l <= t->finest; l++) {
    free(t->level[l].key);
    topology_unlink(&t->level[l]);
  }
}

int topology_levels(const struct topology *t) {
  int levels = 0;
  while (levels <= t->finest && t->level[levels].count > 0) levels++;
  return levels;
}
