/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks of many halos. Trees are packed into pieces of page-locked memory, whose tasks find something of so many rows each. Rounds
 * of pieces bound the memory. Eight tasks at a time, of pieces or of a large tree, bound what steps beside an output may wait for. */
#ifndef PHOTONS_HALO_PIECES_H
#define PHOTONS_HALO_PIECES_H

#include <starpu.h>
#include <stddef.h>

#include "halo_part.h"

/** Handles of the data of a task. */
struct piece_handles {
  starpu_data_handle_t tree, rows, nodes; /**< of the piece */
  starpu_data_handle_t found, found_too;  /**< of the rows of the task; found_too may be NULL */
};

/** What is found of trees. */
struct piece_kind {
  size_t row, node, found,
      found_too;    /**< bytes of one; found_too: 0 if there is one kind of result */
  uint32_t aligned; /**< rows of a tree begin with a multiple of this */
  /** Tree i of the context: its rows, in the place of node the number of its nodes with node 0, or 0, and its depth. */
  struct part_tree (*size)(const void *context, size_t i);
  /** Fill the rows and nodes of tree i. */
  void (*pack)(const void *context, size_t i, void *rows, void *nodes);
  /** Take what was found of the rows of tree i. */
  void (*unpack)(const void *context, size_t i, const void *found, const void *found_too);
  /** The place in a large tree where a task of several begins. */
  uint32_t (*cut)(const struct part_tree *t, uint32_t task, uint32_t tasks);
  void (*submit)(const void *context, const struct halo_part *part, const struct piece_handles *h);
};

enum { PIECE_TASK = 1 << 16 }; /**< rows of a task */

/** Most particles of a halo that tasks on GPUs may work on, for the sake of the GPUs' memory; 0: this rank has no GPUs. */
double pieces_gpu_particles(void);
/** Find something of trees by tasks, and wait for these. Not within a loop or a task.
 * @param task   most rows of a task; tests have fewer than PIECE_TASK
 * @param count  trees of the context */
void pieces_run(const struct piece_kind *kind, const void *context, uint32_t task, size_t count);

#endif
