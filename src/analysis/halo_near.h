/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest neighbours of the particles of a halo in phase space, leaf by leaf of its tree: particles of a leaf have most of
 * their neighbours in common. */
#ifndef PHOTONS_HALO_NEAR_H
#define PHOTONS_HALO_NEAR_H

#include "halo_tree.h"
#include "photons/analysis/kernels.h"

/** The search, with the leaves within reach of the leaf that it is at. */
struct halo_near {
  const struct halo_tree *tree;
  const struct halo_kernels *kernels;
  uint32_t most; /**< neighbours, at most as many as particles */
  const struct halo_node *leaf;
  double reach;   /**< all particles no further than this from the leaf's box are in the crowd */
  double last;    /**< distance of the last neighbour of the particle before */
  double sum;     /**< of these distances in this leaf */
  uint32_t found; /**< particles of this leaf whose neighbours are found */
  struct halo_crowd crowd; /**< what is within reach */
  struct halo_range *range;
  uint32_t room; /**< ranges for which there is memory */
};

/** @param most  neighbours, at most HALO_NEAREST_MOST and t->count */
struct halo_near halo_near_create(const struct halo_tree *t, uint32_t most);
void halo_near_free(struct halo_near *n);

/** Go to a leaf. Fastest where it is near the one before. */
void halo_near_leaf(struct halo_near *n, uint32_t leaf);

/** Find the neighbours of a particle of this leaf, itself included.
 * @param[out] found  [n->most] by rising distance, those at one distance by place; index: their place */
void halo_near_find(struct halo_near *n, uint32_t place, struct neighbour *found);

#endif
