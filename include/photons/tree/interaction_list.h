/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PHOTONS_TREE_INTERACTION_LIST_H
#define PHOTONS_TREE_INTERACTION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pinned_pool;

/** Interaction lists of a group in CSR form. An entry is (slot << (depth + 1)) | source node: slot counts the group's
 * neighbours (slot 0 is the group itself), and all groups of a run have trees of the same depth. */
struct interaction_list {
  uint32_t *offset; /**< per target: entries offset[t] .. offset[t+1]-1 */
  uint32_t *entry;
  uint32_t entries, capacity;
  uint32_t targets;         /**< room for so many */
  bool on_gpu;              /**< offset and entry are in the memory of the GPU that uses them, else in host memory */
  struct pinned_pool *pool; /**< where its memory is from; NULL: malloc() */
};

/** Fails if a list would have more entries than offsets can count. */
void interactions_check(size_t entries);
void interaction_list_free(struct interaction_list *l);
/** Room for the given targets and entries; what stood there is lost. */
void interaction_list_reserve(struct interaction_list *l, uint32_t targets, size_t entries);

#endif
