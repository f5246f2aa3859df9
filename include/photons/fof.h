/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Friends of friends: particles closer than the linking length, and whatever they are linked to, make one group
 * (Davis et al. 1985, ApJ 292, 371).
 *
 * Positions are integers, so "closer" is decided exactly: the partition is the same for every order and cutting of the
 * particles and any number of workers. Blocks of particles are linked one by one along their trees, then pairs of blocks
 * that touch; fof_link_pair() is all that another process's block would need. */
#ifndef PHOTONS_FOF_H
#define PHOTONS_FOF_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/particles.h"

/** A periodic box around particles: [low, low + extent] along each axis, in position units, across the edge if need be. */
struct fof_box {
  uint32_t low[3], extent[3];
};

struct fof {
  const struct particles *particles; /**< blocks: a power of two, each in the order of its tree (domain_rebuild()) */
  unsigned depth;                    /**< of the trees: tree.h */
  unsigned top_depth;                /**< of the tree above the blocks, whose leaves they are: log2(blocks) */
  uint64_t length2;                  /**< linking length squared, position units */
  struct fof_box *boxes;             /**< [block][tree_nodes(depth)] */
  struct fof_box *top;               /**< tree_nodes(top_depth), heap order; node blocks + g is block g */
  bool *whole;                       /**< like boxes: all particles of the node are known to be of one group */
  uint32_t *head;                    /**< [N] once found: the first particle of each particle's group */
};

/**
 * Find the groups. Tasks over all workers where StarPU runs, else a plain loop.
 * @param s       particles in the order that domain_rebuild() makes, fewer than 2^32
 * @param depth   of each block's tree; 0: blocks in any order, as one leaf each
 * @param length  linking length in Mpc/h, less than a quarter of the box; pairs at distance <= length are linked
 */
struct fof *fof_find(const struct particles *s, unsigned depth, double length);
void fof_free(struct fof *f);

/** Squared distance below which fof_find() links, position units. */
uint64_t fof_length2(double length, double box);

/** Squared distance of two points, nearest images, position units. */
static inline uint64_t distance2(uint32_t x0, uint32_t y0, uint32_t z0, uint32_t x1, uint32_t y1, uint32_t z1) {
  const int64_t x = (int32_t)(x0 - x1), y = (int32_t)(y0 - y1), z = (int32_t)(z0 - z1);
  return (uint64_t)(x * x) + (uint64_t)(y * y) + (uint64_t)(z * z);
}

/** Squared distance of a point to a box, 0 inside. */
uint64_t fof_box_distance2(const struct fof_box *box, const uint32_t point[3]);

#endif
