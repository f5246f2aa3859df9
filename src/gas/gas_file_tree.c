/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of fathers, sons and siblings of patches in files. */
#include "gas_file_tree.h"

const unsigned char tree_order[GAS_PATCHES] = {0, 1, 2, 4, 3, 6, 5, 7};

/** Directions of siblings in GAMER's order. */
static const int direction[TREE_SIBLINGS][3] = {
    {-1, 0, 0},  {1, 0, 0},   {0, -1, 0}, {0, 1, 0},   {0, 0, -1},   {0, 0, 1},   {-1, -1, 0},
    {1, -1, 0},  {-1, 1, 0},  {1, 1, 0},  {0, -1, -1}, {0, 1, -1},   {0, -1, 1},  {0, 1, 1},
    {-1, 0, -1}, {-1, 0, 1},  {1, 0, -1}, {1, 0, 1},   {-1, -1, -1}, {1, -1, -1}, {-1, 1, -1},
    {1, 1, -1},  {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1},  {1, 1, 1}};

size_t tree_first(const struct topology *t, int level) {
  size_t groups = 0;
  for (int l = 0; l < level; l++) groups += t->level[l].count;
  return GAS_PATCHES * groups;
}

static int32_t number_of(const struct topology *t, int level, uint32_t group, int patch) {
  return (int32_t)(tree_first(t, level) + GAS_PATCHES * (size_t)group) + tree_order[patch];
}

void tree_place(const struct gas_group *group, int i, uint32_t place[3]) {
  for (int c = 0; c < 3; c++) place[c] = 2 * group->place[c] + (tree_order[i] >> c & 1);
}

int32_t tree_father(const struct topology *t, int level, const struct gas_group *group) {
  if (level == 0) return -1;
  const int patch = (int)(group->place[0] & 1) + 2 * (int)(group->place[1] & 1) +
                    4 * (int)(group->place[2] & 1);
  return number_of(t, level - 1, group->father, patch);
}

int32_t tree_son(const struct topology *t, int level, const struct gas_group *group, int i) {
  const uint32_t son = group->son[tree_order[i]];
  return son == NO_GROUP ? -1 : number_of(t, level + 1, son, 0);
}

/** Number of a direction in GAMER's order. */
static int32_t direction_number(const int wanted[3]) {
  int32_t s = 0;
  while (direction[s][0] != wanted[0] || direction[s][1] != wanted[1] ||
         direction[s][2] != wanted[2])
    s++;
  return s;
}

/** Sibling s of a patch that is outside the box. */
static int32_t outside(const struct topology *t, int level, const struct gas_group *group, int i,
                       int s) {
  uint32_t place[3];
  int crossed[3] = {0};
  tree_place(group, i, place);
  for (int c = 0; c < 3; c++) {
    const int64_t there = (int64_t)place[c] + direction[s][c];
    const bool in = there >= 0 && there < (int64_t)(2 * t->root[c]) << level;
    if (!in && t->boundary[c][0] != GAS_PERIODIC) crossed[c] = direction[s][c];
  }
  return TREE_OUTSIDE - direction_number(crossed);
}

int32_t tree_sibling(const struct topology *t, int level, const struct gas_group *group, int i,
                     int s) {
  const int n = MYSELF + direction[s][0] + 3 * direction[s][1] + 9 * direction[s][2];
  const struct patch_number found = patch_neighbour(t, group, tree_order[i], n);
  if (found.outside) return outside(t, level, group, i, s);
  return found.group == NO_GROUP ? -1 : number_of(t, level, found.group, found.patch);
}
