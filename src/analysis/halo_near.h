/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest neighbours of the particles of a halo in phase space, leaf by leaf of its tree: particles of a leaf have most of
 * their neighbours in common. */
#ifndef PHOTONS_HALO_NEAR_H
#define PHOTONS_HALO_NEAR_H

#include "halo_tree.h"
#include "photons/analysis/kernels.h"

/** The search. Leaves within reach of a node are listed once for all leaves below the node, and particles within reach of a
 * leaf once for all particles of it. Of a tree of few particles all are listed once for all leaves. */
struct halo_near {
  const struct halo_tree *tree;
  const struct halo_kernels *kernels;
  uint32_t most;           /**< neighbours, at most as many as particles */
  uint32_t block;          /**< the node above this leaf whose surroundings are listed; 0: none */
  double block_reach;      /**< no leaf that is not listed is nearer than this to the node's box */
  uint32_t *listed;        /**< leaves, counted from the first one of the tree */
  struct halo_boxes boxes; /**< of these */
  uint32_t leaf;
  struct halo_box box; /**< of this leaf */
  double reach;   /**< all particles no further than this from the leaf's box are in the crowd */
  double last;    /**< distance of the last neighbour of the particle before */
  double sum;     /**< of these distances in this leaf */
  uint32_t found; /**< particles of this leaf whose neighbours are found */
  struct halo_crowd crowd;  /**< what is within reach */
  uint32_t *near_leaf;      /**< numbers in `listed` */
  struct halo_range *range; /**< of the particles of these leaves */
  float *box_memory, *crowd_memory;
  uint32_t room, crowd_room; /**< leaves and particles for which there is memory */
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
