/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The storage of one interaction list of a group. */
#ifndef PHOTONS_TREE_INTERACTION_LIST_H
#define PHOTONS_TREE_INTERACTION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pinned_pool;

/** An interaction list in compressed sparse row (CSR) form. An entry is (slot << (depth + 1)) |
 * source node. `slot` counts the group's neighbours (slot 0 is the group itself). All trees of a
 * run have the same depth. */
struct interaction_list {
  uint32_t *offset; /**< [targets + 1] target t has entries offset[t] .. offset[t+1]-1 */
  uint32_t *entry;
  uint32_t entries, capacity;
  uint32_t targets;         /**< targets for which memory is allocated */
  bool on_gpu;              /**< offset and entry are in memory of the GPU that uses them, otherwise
                             *   in host memory */
  struct pinned_pool *pool; /**< source of the memory; NULL: malloc() */
};

/** Ends the program if a list would have 2^32 entries or more, which offsets cannot count. */
void interactions_check(size_t entries);
/** Free the memory of a list; the list is empty afterwards and keeps its pool. */
void interaction_list_free(struct interaction_list *l);
/** Make room for `targets` targets and `entries` entries. Old contents are lost. */
void interaction_list_reserve(struct interaction_list *l, uint32_t targets, size_t entries);

#endif
