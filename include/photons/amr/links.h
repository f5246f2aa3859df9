/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which batches the tasks of a batch read, and where the groups around a group are among them, as
 * tables: GPUs do not search the octree. Tables are used by CUDA versions of the stages alone. */
#ifndef PHOTONS_AMR_LINKS_H
#define PHOTONS_AMR_LINKS_H

#include <stdint.h>

#include "photons/amr/kernels.h"
#include "photons/amr/topology.h"

/** A group in the batches of a list: 2^16 times the batch's index in the list, plus the group's
 * place in the batch. NO_GROUP: there is none. */
typedef uint32_t gas_link_t;
enum { GAS_LINK_SHIFT = 16, GAS_LINK_MASK = 0xffff };

struct gas_links {
  gas_link_t near[NEIGHBOURS];   /**< groups of its level, in gas_batch.near */
  gas_link_t coarse[NEIGHBOURS]; /**< groups with the neighbours of the patch that it refines, in
                                      gas_batch.coarse; root level: NO_GROUP */
  gas_link_t son[GAS_PATCHES];   /**< what refines its patches in its home, in gas_batch.sons */
  gas_link_t finer[GAS_PATCHES][GAS_FACES]; /**< what refines the neighbour across a face of a
                                                 patch that is not refined, in gas_batch.fine */
  gas_link_t share[GAS_PATCHES]; /**< of self-gravity: what refines its patches in any home, in
                                      gas_batch.around */
  gas_link_t share_beside[GAS_PATCHES][GAS_FACES]; /**< the same of the neighbours of its patches */
  uint32_t place[3];                               /**< of struct gas_group */
  uint32_t patch;                                  /**< of the coarser group, that it refines */
  uint32_t refined;                                /**< a bit for each patch: it is refined */
  uint32_t edges; /**< bit 2 axis + side: the box ends there, and is not periodic */
};

/** A group of a message between homes; see ghosts.h. */
struct gpu_ghost {
  uint32_t batch, group; /**< where it is: which of the message's batches, and which group of it */
  uint32_t first;        /**< number of parts of the groups before it */
  uint32_t patch;        /**< of the coarser group, that it refines */
  uint64_t parts;
};

/** Where the cells of a new group come from. */
struct gas_move {
  uint32_t data;  /**< which of the arrays of groups that a task reads; NO_GROUP: none of them, they
                       are interpolated */
  uint32_t group; /**< in that array */
};

struct gas;
struct gas_batch;

/** Make the lists of own batches of levels, and where this rank uses a GPU their tables: all parts, in any order, on any
 * threads; then the end. No task uses those that the batches have; these stay as they are where nothing changes. */
struct link_search;
struct link_search *gas_links_begin(struct gas *g, int first, int last, uint32_t *parts);
void gas_links_part(const struct link_search *all, uint32_t part);
void gas_links_end(struct link_search *all);
void gas_links_free(struct gas_batch *b);

#endif
