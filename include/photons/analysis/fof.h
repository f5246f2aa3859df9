/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends (Davis et al. 1985, ApJ 292, 371): two particles closer than the linking
 * length are linked, and all particles connected by links form one FoF group.
 *
 * Positions are integers, so that "closer" is decided exactly. The result does not depend on the
 * order of the particles, nor on the number of ORB groups, workers and ranks. The particles of each
 * ORB group (`block` in identifiers) are linked along the ORB group's tree, then pairs of touching
 * ORB groups of one rank. Ranks send each other the particles near the other rank's ORB groups
 * (ghosts) and link them the same way. FoF groups that span ranks then agree on their first
 * particle. */
#ifndef PHOTONS_FOF_H
#define PHOTONS_FOF_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/analysis/fof_box.h"
#include "photons/domain/particles.h"

/** A FoF group that has members on several ranks. */
struct fof_span {
  uint32_t head;  /**< its first particle on this rank */
  uint64_t label; /**< its first particle of the run */
};

/** A box at the bottom of a tree. */
struct fof_leaf {
  struct fof_box box;
  uint32_t block; /**< ORB group of the run */
};
/** A node; its left child follows it. */
struct fof_tree_node {
  struct fof_box box;
  uint32_t last; /**< the last leaf below; of a leaf: its number */
  uint32_t next; /**< the node after all nodes below this one */
};
/** A tree over the boxes of ORB groups, by the bits of their numbers, as the ORB tree is. */
struct fof_tree {
  struct fof_leaf *leaf; /**< by rising block */
  struct fof_tree_node *node;
  uint32_t leaves, nodes;
};

struct fof {
  const struct particles *particles; /**< each ORB group in the order of its tree
                                          (domain_rebuild()) */
  unsigned depth;                    /**< of the trees of the ORB groups: tree.h */
  unsigned part_level;               /**< of these trees: loops work on nodes of this level */
  uint64_t length2;                  /**< linking length squared, position units */
  struct fof_box *boxes;             /**< [ORB group of this rank][tree_nodes(depth)] */
  bool *whole;                       /**< like boxes: all particles of the node are known to be in
                                          one FoF group */
  uint32_t *head;                    /**< [count] the first particle on this rank of each particle's
                                          FoF group */
  struct fof_tree own; /**< of this rank's ORB groups; leaf g is ORB group g of this rank */
  struct fof_tree met; /**< of those of other ranks that may have links to this rank's, if this rank
                                          sends its particles there */
  struct fof_tree ranks; /**< of the domains of all ranks: fof_near_ranks() */
  uint64_t *rank_first;  /**< [ranks + 1] first particle of each rank */
  size_t spans;          /**< number of FoF groups that span ranks and have members on
                                          this one */
  struct fof_span *span; /**< by rising head */
};

/**
 * Find the FoF groups. Collective. With StarPU running, tasks on all workers, else a plain loop.
 * @param s       particles in the order that domain_rebuild() makes; any number of ORB groups, none
 *         empty; fewer than 2^32 on one rank
 * @param depth   of each ORB group's tree; 0: particles in any order, each ORB group as one leaf
 * @param length  linking length in Mpc/h, less than a quarter of the box; pairs at distance <=
 *         length are linked
 */
struct fof *fof_find(const struct particles *s, unsigned depth, double length);
void fof_free(struct fof *f);

/** Index among all particles of the run of the first particle in the FoF group of this rank's
 * particle i. */
uint64_t fof_label(const struct fof *f, uint32_t i);

/** The rank that has a particle of the run. */
int fof_rank_of_particle(const struct fof *f, uint64_t i);

/** Squared distance up to which fof_find() links, position units. */
uint64_t fof_length2(double length, double box);

/** Call visit(context, k) for the leaves k >= first of a tree whose boxes are within a distance of a box, in rising
 * order of k. */
void fof_tree_search(const struct fof_tree *t, const struct fof_box *box, uint64_t distance2,
                     uint32_t first, void (*visit)(void *context, uint32_t k), void *context);
/** Call visit(context, rank) for the other ranks whose domains are within a distance of a box, in rising order. A domain
 * is two boxes around the rank's ORB groups: all its particles are in them. */
void fof_near_ranks(const struct fof *f, const struct fof_box *box, uint64_t distance2,
                    void (*visit)(void *context, int rank), void *context);

#endif
