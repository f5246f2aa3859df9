/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A group with its ghost cells, as the solvers take it: copies of the groups around it,
 * interpolation from the next coarser level, and the boundaries of the box. */
#ifndef PHOTONS_AMR_BLOCKS_H
#define PHOTONS_AMR_BLOCKS_H

#include "photons/amr/gas.h"

/** Where the cells of the batches of a list are. */
struct batch_cells {
  const struct batch_list *list;
  const char *const *cells; /**< [list->count] */
};

/** What the block of a group is made from. */
struct block_sources {
  const struct gas *gas;
  int level;
  struct batch_cells near;           /**< of this level */
  struct batch_cells coarse, before; /**< of the next coarser level, at the end and at the beginning
                                          of its last step */
  double weight; /**< of the end of that step; `before` is not read where it is 1 */
};

/** Fill a block, kernels.h. */
void block_fill(const struct block_sources *s, uint32_t group, void *block);

/** The cells of a new group, interpolated from the end of the coarser level's step. `near` is not
 * read, and the group need not be in the topology.
 * @param father, patch  which the group refines
 * @param block  scratch: gas_block_bytes() */
void block_refine(const struct block_sources *s, uint32_t father, int patch, void *block,
                  void *cells);

#endif
