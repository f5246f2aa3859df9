/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a task that finds densities in halos works on: trees of phase space (halo_tree.h) one after the other. */
#ifndef PHOTONS_HALO_DENSITY_PART_H
#define PHOTONS_HALO_DENSITY_PART_H

#include <stdint.h>

enum {
  HALO_LINKED = 10,   /**< neighbours that are kept of each particle, itself included */
  HALO_PHASE_AXES = 6 /**< HALO_AXES */
};

/** A halo's tree. */
struct density_tree {
  uint32_t first, count; /**< rows of its particles, by place */
  uint32_t node;         /**< index of its node 0, which is not used */
  uint32_t depth;
};

/** Low and high ends of a node's box: struct halo_node. */
struct density_box {
  double low[HALO_PHASE_AXES], high[HALO_PHASE_AXES];
};

struct density_part {
  uint32_t trees, rows, nodes;     /**< in all */
  uint32_t first, count;           /**< the rows whose densities are found: whole leaves */
  const struct density_tree *tree; /**< [trees] rows follow each other */
  double (*x)[HALO_PHASE_AXES];    /**< [rows] coordinates; read only */
  struct density_box *box;         /**< [nodes]; read only */
  double *density;                 /**< [count] of the rows */
  uint32_t (*neighbour)
      [HALO_LINKED]; /**< [count] places in the tree by rising distance; of fewer particles as many as there are */
};

#ifndef __cplusplus
/** Find the densities on this thread. */
void density_part_find(const struct density_part *p);
#endif

#endif
