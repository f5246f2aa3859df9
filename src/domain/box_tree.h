/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A binary tree over the boxes of groups, by the bits of their numbers, as the ORB tree is. */
#ifndef PHOTONS_BOX_TREE_H
#define PHOTONS_BOX_TREE_H

#include <stdint.h>

#include "photons/domain/domain.h"

/** Units of r_cut^2. For nodes above the groups, rounding may hide a gap of this size; between two
 * groups the gap is taken as computed. */
#define BOX_ROUNDING 1e-4f

/** A node; its left child follows it. */
struct box_node {
  struct node box;
  struct group *group; /**< leaves; else NULL */
  uint32_t next;       /**< the node after all nodes below this one */
};
struct box_tree {
  struct box_node *node; /**< [count]; parents before children, groups by rising index */
  uint32_t count;
  float moved; /**< the most of any group */
};

/** @param group  [groups] by rising index */
struct box_tree box_tree_make(const struct geometry *geometry, struct group *const *group,
                              uint32_t groups);
void box_tree_free(struct box_tree *t);

/** Squared distance within which particles may be in reach, considering how far they may have moved since
 * their boxes were made. */
static inline float reach_squared(float moved, float other_moved) {
  const float reach = R_CUT + (moved + other_moved); /* the same for both sides */
  return reach * reach;
}

#endif
