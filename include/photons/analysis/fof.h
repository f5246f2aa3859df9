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

struct fof {
  const struct particles *particles; /**< each ORB group in the order of its tree
                                          (domain_rebuild()) */
  unsigned depth;                    /**< of the trees of the ORB groups: tree.h */
  unsigned part_level;               /**< of these trees: loops work on nodes of this level */
  unsigned top_depth;                /**< of the tree above all ORB groups of the run, which are its
                                          leaves */
  uint64_t length2;                  /**< linking length squared, position units */
  struct fof_box *boxes;             /**< [ORB group of this rank][tree_nodes(depth)] */
  struct fof_box *top;               /**< tree_nodes(top_depth), heap order; node 2^top_depth + g is
                                          ORB group g of the run */
  bool *whole;                       /**< like boxes: all particles of the node are known to be in
                                          one FoF group */
  uint32_t *head;                    /**< [count] the first particle on this rank of each particle's
                                          FoF group */
  size_t *rank_block;                /**< [ranks + 1] first ORB group of each rank */
  uint64_t *rank_first;              /**< [ranks + 1] first particle of each rank */
  size_t spans;                      /**< number of FoF groups that span ranks and have members on
                                          this one */
  struct fof_span *span;             /**< by rising head */
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

/** The rank that has a particle or an ORB group of the run. */
int fof_rank_of_particle(const struct fof *f, uint64_t i);
int fof_rank_of_block(const struct fof *f, size_t g);

/** Squared distance up to which fof_find() links, position units. */
uint64_t fof_length2(double length, double box);

/** Call visit(context, g) for the ORB groups of the run, first <= g < end, whose boxes are within a
 * distance of a box, in rising order of g. */
void fof_near_blocks(const struct fof *f, const struct fof_box *box, uint64_t distance2,
                     size_t first, size_t end, void (*visit)(void *context, size_t g),
                     void *context);

#endif
