/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "box_tree.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"

float box_gap_squared(const struct geometry *geometry, const struct node *a, const struct node *b) {
  float gap2 = 0.0f;
  for (int c = 0; c < 3; c++) {
    float d = fabsf((float)position_difference(a->centre[c], b->centre[c])) * geometry->scale;
    float gap = fmaxf(d - (a->half[c] + b->half[c]), 0.0f);
    gap2 += gap * gap;
  }
  return gap2;
}

struct node box_around(const struct geometry *geometry, const struct node *a,
                       const struct node *b) {
  struct node box = {0};
  for (int c = 0; c < 3; c++) {
    const float d = (float)position_difference(b->centre[c], a->centre[c]) * geometry->scale;
    const float low = fminf(-a->half[c], d - b->half[c]), high = fmaxf(a->half[c], d + b->half[c]);
    box.centre[c] = a->centre[c] + (uint32_t)(int64_t)(0.5f * (low + high) / geometry->scale);
    box.half[c] = 0.5f * (high - low) * (1.0f + 1e-5f);
  }
  return box;
}

struct making {
  struct box_tree *tree;
  const struct geometry *geometry;
  struct group *const *group;
};

/** The first of the groups low .. high - 1 on the right of the ORB tree's lowest node above all of them. */
static uint32_t find_cut(const struct making *m, uint32_t low, uint32_t high) {
  const uint32_t last = m->group[high - 1]->index,
                 bit = 31 - (uint32_t)__builtin_clz(m->group[low]->index ^ last),
                 right = last >> bit << bit;
  for (high--; high - low > 1;) { /* group[low] is on the left, group[high] on the right */
    const uint32_t middle = low + (high - low) / 2;
    if (m->group[middle]->index < right)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static void make(struct making *m, uint32_t low, uint32_t high) {
  const uint32_t me = m->tree->count++;
  struct box_node *node = &m->tree->node[me];
  if (high - low == 1) {
    *node = (struct box_node){.box = m->group[low]->root, .group = m->group[low]};
    m->tree->moved = fmaxf(m->tree->moved, m->group[low]->moved);
  } else {
    const uint32_t cut = find_cut(m, low, high);
    make(m, low, cut);
    const struct node *right = &m->tree->node[m->tree->count].box;
    make(m, cut, high);
    node->box = box_around(m->geometry, &node[1].box, right);
  }
  node->next = m->tree->count;
}

struct box_tree box_tree_make(const struct geometry *geometry, struct group *const *group,
                              uint32_t groups) {
  struct box_tree t = {.node = allocate(2 * (size_t)groups, sizeof *t.node, "boxes of groups")};
  if (groups > 0) make(&(struct making){&t, geometry, group}, 0, groups);
  return t;
}

void box_tree_free(struct box_tree *t) { free(t->node); }
