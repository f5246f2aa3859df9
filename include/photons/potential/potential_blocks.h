/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of a group with its ghost cells, as relaxation and accelerations take it. */
#ifndef PHOTONS_POTENTIAL_POTENTIAL_BLOCKS_H
#define PHOTONS_POTENTIAL_POTENTIAL_BLOCKS_H

#include "photons/amr/blocks.h"
#include "photons/potential/poisson.h"

/** What the block of a group is made from. Potentials of batches are [group][z 16][y 16][x 16]. */
struct potential_sources {
  const struct gas *gas;
  int level;
  struct batch_cells near;       /**< of this level; list NULL: all is interpolated */
  struct batch_cells begin, end; /**< of the next coarser level, at the beginning and at the end of
                                      its step; lists NULL: nothing is interpolated */
  double weight;                 /**< of the end; what has no weight is not read */
  double change; /**< of potential_block_corrected(): this part of the change from the
                                      beginning to the end is added */
};

/** Fill a block, poisson.h; ghost cells beyond edges and corners are not set. Where there is no
 * group of this level, it is interpolated from the coarser one. Beyond the box it is a parabola
 * through three cells, of the coarser level if that is read. */
void potential_block(const struct potential_sources *s, uint32_t group, double *block);

/** The potential of a group's cells and of two more a side, edges and corners included: [z 20][y 20]
 * [x 20]. */
void potential_wide(const struct potential_sources *s, uint32_t group, double *wide);

/** The same as potential_block(), with the groups' potentials corrected by the change of the coarser
 * level's. */
void potential_block_corrected(const struct potential_sources *s, uint32_t group, double *block);

/** The same of the ghost cells beyond faces alone, which are all that a direct solution needs. */
void potential_ghosts(const struct potential_sources *s, uint32_t group, double *block);
void potential_ghosts_corrected(const struct potential_sources *s, uint32_t group, double *block);

/** The inner cells of a block. */
void potential_inner(const double *block, double *cube);

/** Of a potential or pseudo-mass of a batch of the list. */
const double *potential_of(const struct batch_cells *b, uint32_t group);

#endif
