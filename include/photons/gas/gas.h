/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas on an adaptive mesh: the octree with the cells of its groups, cut into batches that are data
 * of StarPU.
 *
 * Cells of a group: [variable][patch][8][8][8], z slowest, x fastest, float or double. Variables:
 * density, momentum x, y, z, total energy, each per volume, and those that a solver adds. A batch
 * is GAS_BATCH groups that follow each other in the order of their level; batches depend on
 * neither ranks nor workers. Each batch has its cells twice: at the level's present time, and at the
 * beginning of its last step, which the ghost cells of the next finer level need. */
#ifndef PHOTONS_GAS_GAS_H
#define PHOTONS_GAS_GAS_H

#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/gas/topology.h"

struct gas_kernels;
struct parameters;

enum {
  GHOST_CELLS = 3,
  BLOCK_CELLS = GROUP_CELLS + 2 * GHOST_CELLS,  /**< a side: a group with its ghost cells */
  COARSE_CELLS = PATCH_CELLS + 2 * GHOST_CELLS, /**< a side: the coarser cells around a group */
  GAS_VARIABLES_MAX = 6,
};

/** Numbers of other batches, rising. */
struct batch_list {
  uint32_t count, *batch;
};

struct gas_batch {
  uint32_t first, count; /**< groups of the level */
  void *cells[2];        /**< [group][variable][patch][8][8][8]; see gas_level.now */
  starpu_data_handle_t handle[2];
  starpu_data_handle_t flux;  /**< [group][patch][face][variable][8][8] of the last step */
  starpu_data_handle_t sides; /**< [group][side][variable][8][8]: fluxes through the sides of the
                                   groups in coarser cells, over a step of the next coarser level */
  struct batch_list near;     /**< of this level: of the groups and their neighbours */
  struct batch_list coarse;   /**< of the next coarser level: of the fathers and their neighbours */
  struct batch_list fine;     /**< of the next finer level: of the sons of the groups and of their
                                 neighbours */
};

struct gas_level {
  uint32_t batch_count;
  struct gas_batch *batch;
  int now;       /**< which of the batches' cells are those of the present time */
  int64_t steps; /**< taken */
  double *speed; /**< [group] largest c_s + |v_i| in its cells */
  double (*sum)[GAS_VARIABLES_MAX]; /**< [group] of the cells without finer ones, in cells */
  uint32_t (*flags)[8];             /**< [group], see topology_refined() */
};

struct gas {
  const struct parameters *parameters;
  const struct gas_kernels *kernels;
  struct topology topology;
  struct gas_level level[GAS_LEVELS_MAX];
  int variables;
  size_t real;   /**< bytes of a number */
  double length; /**< of a cell of the root level */
  double time;
  int64_t step;    /**< of the root level, taken */
  uint32_t blocks; /**< buffers of ghosted groups, used in turn */
  starpu_data_handle_t *block;
  uint64_t updates[GAS_LEVELS_MAX]; /**< of cells in the last step of the root level */
};

/** Bytes of the cells of a group. */
size_t gas_group_bytes(const struct gas *g);

#endif
