/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interaction lists of a group: made by walks, read by direct sums and expansions. A walk on a core
 * writes them into host memory. A walk on a GPU counts first; when the host knows how long the lists
 * are, a second task fills data of StarPU's. Who uses the lists need not know which it was. */
#ifndef PHOTONS_TREE_LISTS_H
#define PHOTONS_TREE_LISTS_H

#include <starpu.h>
#include <stdbool.h>
#include <stddef.h>

#include "photons/tree/walk.h"

/** Near: pairs of leaves for direct sums. Far: pairs of nodes for expansions. */
enum list_kind { LIST_NEAR, LIST_FAR, LISTS };

struct lists {
  struct interaction_list host[LISTS]; /**< of a walk on a core */
  struct walk_result walked;           /**< counts of the last walk */
  bool on_gpu;                         /**< the last walk ran on a GPU */
  starpu_data_handle_t walk;           /**< no data: orders the walk and who uses its lists */
  starpu_data_handle_t offset;         /**< GPU: offsets of both lists; NULL: no GPU in use */
  starpu_data_handle_t entry[LISTS];   /**< GPU: from filling to the last task that reads them */
};

struct short_range;
struct group;

void lists_register(struct lists *l, unsigned depth);
void lists_unregister(struct lists *l);
void lists_free(struct lists *l);

/** Submit what a group's walk can do before lists_make(): with GPUs all of its counting, so that the
 * host may wait for all walks together; else nothing, so that few lists exist at a time. */
void lists_begin(struct short_range *s, struct group *g);
/** From here on tasks may use the lists. With GPUs the host waits until it knows their lengths. */
void lists_make(struct short_range *s, struct group *g);
/** Whether the host already knows that no pair of nodes goes by expansions: then no task is needed. */
bool lists_known_no_far(const struct lists *l);
/** Whether lists_make() waits for the host's sake: then the order of the groups matters. */
bool lists_wait(void);

/* For a codelet that reads a list, being its only reader. */

enum { LIST_SLOTS_MOST = 3 };
/** Add the list to a task's data: returns how many slots it takes. */
size_t list_slots(const struct lists *l, enum list_kind kind, struct starpu_data_descr *data);
/** The list in the task. @param buffers  from where list_slots() added it @param on_gpu  the task runs there */
struct interaction_list list_unwrap(const struct lists *l, enum list_kind kind, unsigned depth,
                                    void *buffers[], bool on_gpu);
/** The task's `ended` and `context`: frees what a core's walk made. */
void list_ended(void *interaction_list);
/** After the reader is submitted, or instead of it: the list is not needed any more. */
void list_release(struct lists *l, enum list_kind kind);

#endif
