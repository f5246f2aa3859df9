/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/topology.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/base/kept.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(gas_groups, 0x668877, .family = "gas");

enum {
  KEY_BITS = 21, /* of a coordinate */
  PART_GROUPS =
      4096 /* groups that a worker links at a time: fewer take less time than a worker needs to begin */
};

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

/** The group with a key; NO_GROUP: there is none. */
static uint32_t find_key(const struct gas_tree_level *l, uint64_t key) {
  const uint64_t *found = l->count ? bsearch(&key, l->key, l->count, sizeof key, compare_keys)
                                   : NULL;
  return found ? (uint32_t)(found - l->key) : NO_GROUP;
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

/** place + the direction of neighbour n */
static void neighbour_place(const uint32_t place[3], int n, int64_t neighbour[3]) {
  const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
  for (int c = 0; c < 3; c++) neighbour[c] = (int64_t)place[c] + direction[c];
}

/** The bits of gas_group.outside. */
static uint32_t outside_of(const struct topology *t, int level, const uint32_t place[3]) {
  static const int stride[3] = {1, 3, 9};
  uint32_t bits = 0;
  for (int c = 0; c < 3; c++) {
    const bool low = place[c] == 0, high = place[c] == (t->root[c] << level) - 1;
    if (t->boundary[c][0] == GAS_PERIODIC || !(low || high)) continue;
    for (int n = 0; n < NEIGHBOURS; n++) {
      const int direction = n / stride[c] % 3 - 1;
      if ((low && direction < 0) || (high && direction > 0)) bits |= 1u << n;
    }
  }
  return bits;
}

static void set_near(struct gas_group *g, int n, uint32_t near) {
  g->near[n] = near;
  g->there = (g->there & ~(1u << n)) | (uint32_t)(near != NO_GROUP) << n;
}

static void link_root(struct topology *t) {
  struct gas_tree_level *l = &t->level[0];
  for (uint32_t i = 0; i < l->count; i++) {
    morton_place(l->key[i], l->group[i].place);
    l->group[i].outside = outside_of(t, 0, l->group[i].place);
    for (int n = 0; n < NEIGHBOURS; n++) {
      int64_t place[3];
      neighbour_place(l->group[i].place, n, place);
      set_near(&l->group[i], n, topology_find(t, 0, place));
    }
  }
}

/** Link the groups of a level with those of the next coarser one. Both are in the order of their
 * keys, so that the fathers follow each other as the groups do. */
static void link_fathers(struct topology *t, int level) {
  struct gas_tree_level *fine = &t->level[level], *coarse = &t->level[level - 1];
  for (uint32_t i = 0; i < coarse->count; i++)
    for (int p = 0; p < 8; p++) coarse->group[i].son[p] = NO_GROUP;
  for (uint32_t i = 0, father = 0; i < fine->count; i++) {
    const uint64_t key = fine->key[i] >> 3;
    while (father < coarse->count && coarse->key[father] < key) father++;
    if (father == coarse->count || coarse->key[father] != key)
      fail(EXIT_RUN_FAILED, "a patch group without a coarser one around it");
    fine->group[i].father = father;
    coarse->group[father].son[fine->key[i] & 7] = i;
  }
}

/** A level below the root whose groups have fathers. */
struct new_level {
  struct topology *topology;
  int level;
};

/** Find the places of a part of the groups of a level from those of their fathers, and their neighbours among the sons
 * of the next coarser level. */
static void place_part(void *context, uint32_t part) {
  const struct new_level *new = context;
  const struct topology *t = new->topology;
  const struct gas_tree_level *l = &t->level[new->level];
  const uint32_t first = part * PART_GROUPS,
                 end = l->count - first < PART_GROUPS ? l->count : first + PART_GROUPS;
  for (uint32_t i = first; i < end; i++) {
    struct gas_group *g = &l->group[i];
    const int patch = (int)(l->key[i] & 7);
    const struct gas_group *father = &t->level[new->level - 1].group[g->father];
    for (int c = 0; c < 3; c++) g->place[c] = 2 * father->place[c] + (uint32_t)(patch >> c & 1);
    g->outside = outside_of(t, new->level, g->place);
    for (int n = 0; n < NEIGHBOURS; n++)
      set_near(g, n, topology_finer_neighbour(t, new->level - 1, g->father, patch, n));
  }
}

static void place_groups(struct topology *t, int level) {
  struct new_level new = {t, level};
  const uint32_t parts = (t->level[level].count + PART_GROUPS - 1) / PART_GROUPS;
  if (parts == 1)
    place_part(&new, 0);
  else
    loop_run(&gas_groups_stage, parts, place_part, &new);
}

void topology_replace(struct topology *t, int level, uint64_t *keys, uint32_t count) {
  struct gas_tree_level *l = &t->level[level];
  free(l->key);
  free(l->group);
  *l = (struct gas_tree_level){.count = count,
                               .group = allocate(count, sizeof *l->group, "patch groups"),
                               .changes = l->changes + 1};
  l->key = keys;
  for (uint32_t i = 0; i < count; i++) {
    l->group[i].father = NO_GROUP;
    for (int p = 0; p < 8; p++) l->group[i].son[p] = NO_GROUP;
  }
  if (level == 0) {
    link_root(t);
  } else {
    link_fathers(t, level);
    place_groups(t, level);
  }
  if (level < t->finest) link_fathers(t, level + 1);
  size_t groups = 0;
  for (int k = 0; k <= t->finest; k++) groups += t->level[k].count;
  kept_set(KEPT_OCTREE, groups * (sizeof *l->key + sizeof *l->group));
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
    free(t->level[l].group);
  }
}

uint32_t topology_first_below(const struct topology *t, int level, uint64_t key, int finer) {
  const struct gas_tree_level *l = &t->level[finer];
  uint32_t low = 0, high = l->count;
  key <<= 3 * (finer - level);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (l->key[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int topology_levels(const struct topology *t) {
  int levels = 0;
  while (levels <= t->finest && t->level[levels].count > 0) levels++;
  return levels;
}

/** Take the lowest bit away. @return its number; -1: there is none */
static int next_bit(uint32_t *bits) {
  if (*bits == 0) return -1;
  const int bit = __builtin_ctz(*bits);
  *bits &= *bits - 1;
  return bit;
}

/** Mark the patches that flags and their buffers name: a bit for each patch of a group. */
static void mark_flagged(const struct topology *t, int level, const uint32_t (*flags)[8],
                         uint8_t *wanted) {
  const struct gas_tree_level *l = &t->level[level];
  for (uint32_t i = 0; i < l->count; i++)
    for (int p = 0; p < 8; p++) {
      uint32_t left = flags[i][p];
      for (int n; (n = next_bit(&left)) >= 0;) {
        const struct patch_step step = t->step[p][n];
        const uint32_t group = l->group[i].near[step.group];
        if (group != NO_GROUP) wanted[group] |= (uint8_t)(1u << step.patch);
      }
    }
}

/** The neighbours of a group that the neighbourhoods of some of its patches reach.
 * @param patches  a bit for each of these */
static uint32_t reached(const struct topology *t, uint32_t patches) {
  uint32_t groups = 0;
  for (int p; (p = next_bit(&patches)) >= 0;) groups |= t->around[p];
  return groups;
}

static uint32_t refined_patches(const struct gas_group *g) {
  uint32_t patches = 0;
  for (int p = 0; p < 8; p++) patches |= (uint32_t)(g->son[p] != NO_GROUP) << p;
  return patches;
}

/** Mark the patches whose sons hold refined patches or neighbours of these. */
static void mark_nested(const struct topology *t, int level, uint8_t *wanted) {
  const struct gas_tree_level *fine = &t->level[level + 1];
  for (uint32_t i = 0; i < fine->count; i++) {
    uint32_t left = reached(t, refined_patches(&fine->group[i]));
    for (int n; (n = next_bit(&left)) >= 0;) {
      const uint32_t son = fine->group[i].near[n];
      if (son != NO_GROUP) wanted[fine->group[son].father] |= (uint8_t)(1u << (fine->key[son] & 7));
    }
  }
}

/** The patches of a group all of whose neighbours exist or are outside the box. */
static uint32_t nested_patches(const struct topology *t, const struct gas_group *g) {
  const uint32_t missing = ~(g->there | g->outside);
  uint32_t patches = 0;
  for (int p = 0; p < 8; p++) patches |= (uint32_t)((t->around[p] & missing) == 0) << p;
  return patches;
}

uint64_t *topology_refined(const struct topology *t, int level, const uint32_t (*flags)[8],
                           uint32_t *count) {
  const struct gas_tree_level *l = &t->level[level];
  uint8_t *wanted = allocate(l->count, sizeof *wanted, "flags of patches");
  mark_flagged(t, level, flags, wanted);
  mark_nested(t, level, wanted);
  uint64_t *keys = reallocate(NULL, (size_t)l->count * 8 + 1, sizeof *keys, "patch groups");
  *count = 0;
  for (uint32_t i = 0; i < l->count; i++) {
    uint32_t patches = wanted[i];
    if (patches) patches &= nested_patches(t, &l->group[i]);
    for (int p; (p = next_bit(&patches)) >= 0;) keys[(*count)++] = l->key[i] << 3 | (uint32_t)p;
  }
  free(wanted);
  return keys;
}
