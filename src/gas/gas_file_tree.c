/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fathers, sons and siblings of patches, from the places of their groups. */
#include "gas_file_tree.h"

#include <stdlib.h>

#include "photons/base/error.h"

const unsigned char tree_patch_order[GAS_FILE_GROUP_PATCHES] = {0, 1, 2, 4, 3, 6, 5, 7};

const signed char tree_direction[TREE_SIBLINGS][3] = {
    {-1, 0, 0},  {1, 0, 0},   {0, -1, 0}, {0, 1, 0},   {0, 0, -1},   {0, 0, 1},   {-1, -1, 0},
    {1, -1, 0},  {-1, 1, 0},  {1, 1, 0},  {0, -1, -1}, {0, 1, -1},   {0, -1, 1},  {0, 1, 1},
    {-1, 0, -1}, {-1, 0, 1},  {1, 0, -1}, {1, 0, 1},   {-1, -1, -1}, {1, -1, -1}, {-1, 1, -1},
    {1, 1, -1},  {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1},  {1, 1, 1}};

uint64_t tree_key(const int32_t place[3]) {
  uint64_t key = 0;
  for (unsigned bit = 0; bit < 21; bit++)
    for (unsigned c = 0; c < 3; c++)
      key |= (uint64_t)((uint32_t)place[c] >> bit & 1) << (3 * bit + c);
  return key;
}

struct tree tree_make(const struct gas_file *f) {
  struct tree t = {.file = f};
  for (size_t l = 0; l < f->levels; l++) {
    const struct gas_file_level *level = &f->level[l];
    t.first[l + 1] = t.first[l] + GAS_FILE_GROUP_PATCHES * level->groups;
    t.key[l] = allocate(level->groups, sizeof *t.key[l], "the tree of patches");
    for (size_t g = 0; g < level->groups; g++) t.key[l][g] = tree_key(level->place[g]);
  }
  return t;
}

void tree_free(struct tree *t) {
  for (size_t l = 0; l < t->file->levels; l++) free(t->key[l]);
  *t = (struct tree){0};
}

void tree_place(const struct gas_file *f, size_t level, size_t group, size_t i, int32_t place[3]) {
  for (size_t c = 0; c < 3; c++)
    place[c] = 2 * f->level[level].place[group][c] + (tree_patch_order[i] >> c & 1);
}

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/** Index of the group at a place, in units of its side; -1 where there is none. */
static int64_t find_group(const struct tree *t, size_t level, const int32_t place[3]) {
  const uint64_t key = tree_key(place), *keys = t->key[level];
  const uint64_t *found = bsearch(&key, keys, t->file->level[level].groups, sizeof key,
                                  compare_keys);
  return found ? found - keys : -1;
}

int32_t tree_find(const struct tree *t, size_t level, const int32_t place[3]) {
  const int64_t group = find_group(t, level,
                                   (const int32_t[]){place[0] / 2, place[1] / 2, place[2] / 2});
  const int patch = (place[0] & 1) + 2 * (place[1] & 1) + 4 * (place[2] & 1);
  if (group < 0) return -1;
  return (int32_t)t->first[level] + (int32_t)(GAS_FILE_GROUP_PATCHES * group) +
         tree_patch_order[patch];
}

int32_t tree_father(const struct tree *t, size_t level, const int32_t place[3]) {
  if (level == 0) return -1;
  return tree_find(t, level - 1, (const int32_t[]){place[0] / 2, place[1] / 2, place[2] / 2});
}

int32_t tree_son(const struct tree *t, size_t level, const int32_t place[3]) {
  if (level + 1 == t->file->levels) return -1;
  const int64_t group = find_group(t, level + 1, place);
  return group < 0 ? -1 : (int32_t)t->first[level + 1] + (int32_t)(GAS_FILE_GROUP_PATCHES * group);
}

/** Number of a direction in the order of files. */
static int32_t direction_number(const int direction[3]) {
  int32_t s = 0;
  while (tree_direction[s][0] != direction[0] || tree_direction[s][1] != direction[1] ||
         tree_direction[s][2] != direction[2])
    s++;
  return s;
}

int32_t tree_sibling(const struct tree *t, size_t level, const int32_t place[3], size_t s) {
  int32_t there[3];
  int crossed[3] = {0};
  for (size_t c = 0; c < 3; c++) {
    const int32_t end = (int32_t)(t->file->root[c] / 8) << level;
    const signed char d = tree_direction[s][c];
    there[c] = place[c] + d;
    if (there[c] >= 0 && there[c] < end) continue;
    if (t->file->boundary[2 * c + (d > 0)] == GAS_FILE_PERIODIC)
      there[c] = (there[c] + end) % end;
    else
      crossed[c] = d;
  }
  if (crossed[0] || crossed[1] || crossed[2]) return TREE_OUTSIDE - direction_number(crossed);
  return tree_find(t, level, there);
}

const char *tree_fault(const struct tree *t) {
  const struct gas_file *f = t->file;
  for (size_t l = 0; l < f->levels; l++)
    for (size_t g = 0; g < f->level[l].groups; g++) {
      const int32_t *place = f->level[l].place[g];
      for (size_t c = 0; c < 3; c++)
        if (place[c] < 0 || place[c] >= (int32_t)(f->root[c] / GAS_FILE_GROUP_CELLS) << l)
          return "a patch is outside the box";
      if (g > 0 && t->key[l][g - 1] >= t->key[l][g]) return "patches are not in order";
      if (l > 0 && tree_find(t, l - 1, place) < 0) return "a patch has no father";
    }
  return NULL;
}
