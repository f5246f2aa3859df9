/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interaction lists of a group: written by walks, read by direct sums and expansions. A walk on
 * a CPU writes the lists into host memory. A walk on a GPU counts the entries, and writes lists of
 * about the expected length; else, when the host knows their numbers, a second task fills handles of
 * that size. A codelet that reads a list need
 * not know which way it was made. */
#ifndef PHOTONS_TREE_LISTS_H
#define PHOTONS_TREE_LISTS_H

#include <starpu.h>
#include <stdbool.h>
#include <stddef.h>

#include "photons/tree/walk.h"

/** Near: pairs of leaves for direct sums. Far: pairs of nodes for expansions. */
enum list_kind { LIST_NEAR, LIST_FAR, LISTS };

enum { LIST_SIZES = 66 }; /**< numbers of targets that are told apart: two for each doubling */

struct list_lengths {
  uint32_t targets, near, far;
};

/** The larger of a new length and one that is kept, which falls by a 64th each time: sub-steps of about as many
 * targets take turns in how long their lists are. */
static inline uint32_t kept_length(uint32_t kept, uint64_t length) {
  const uint32_t falls = kept - kept / 64 - (kept % 64 > 0);
  return falls > length ? falls : (uint32_t)length;
}

struct lists {
  struct interaction_list host[LISTS]; /**< of a walk on a core */
  struct walk_result walked;           /**< counts of the last walk */
  bool on_gpu;                         /**< the last walk ran on a GPU */
  starpu_data_handle_t walk;           /**< handle without data: orders the walk and the readers of
                                        *   its lists */
  starpu_data_handle_t offset;         /**< GPU: offsets of both lists; NULL: no GPU in use */
  starpu_data_handle_t entry[LISTS];   /**< GPU: entries, from the filling to the end of the
                                        *   reader */
  struct list_lengths last[LIST_SIZES]; /**< GPU: lengths of the longest of the last lists of about so
                                         *   many targets */
};

struct short_range;
struct group;

/** Register the handles of a group's lists, for trees of the given depth; and unregister them. */
void lists_register(struct lists *l, unsigned depth);
void lists_unregister(struct lists *l);
/** Free lists in host memory. */
void lists_free(struct lists *l);

/** Submit the part of a group's walk that can run before lists_make(). With GPUs this is the
 * counting, so that the host can wait for all walks together. Without GPUs it is nothing, so that
 * few lists exist at a time. */
void lists_begin(struct short_range *s, struct group *g);
/** Submit the rest of the walk; after this, tasks that use the lists may be submitted. With GPUs
 * the host waits until it knows the lengths of the lists. */
void lists_make(struct short_range *s, struct group *g);
/** Whether the host already knows that the far list is empty, so that no task for it is needed. */
bool lists_known_no_far(const struct lists *l);
/** Whether lists_make() makes the host wait; if so, the order in which groups are submitted
 * matters. */
bool lists_wait(void);

/* For codelets that read a list. Each list must have one reader. */

enum { LIST_SLOTS_MOST = 3 };
/** Add the handles of the list to a task's data. @return number of slots used */
size_t list_slots(const struct lists *l, enum list_kind kind, struct starpu_data_descr *data);
/**
 * The list inside the task.
 * @param buffers  the task's buffers, from the slot where list_slots() added the list
 * @param on_gpu   whether the task runs on a GPU
 */
struct interaction_list list_unwrap(const struct lists *l, enum list_kind kind, unsigned depth,
                                    void *buffers[], bool on_gpu);
/** To be the reader's task.ended, with the list as task.context: frees a list in host memory. */
void list_ended(void *interaction_list);
/** Give up a list, after its reader is submitted or if it will have none. */
void list_release(struct lists *l, enum list_kind kind);

#endif
