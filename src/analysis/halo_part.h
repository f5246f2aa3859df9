/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tasks of halos work on: trees of particles, whose rows and nodes follow each other. */
#ifndef PHOTONS_HALO_PART_H
#define PHOTONS_HALO_PART_H

#include <stdint.h>

enum {
  HALO_LINKED = 10,     /**< neighbours that are kept of each particle, itself included */
  HALO_PHASE_AXES = 6,  /**< HALO_AXES */
  HALO_POTENTIALS = 32, /**< HALO_POINTS: rows whose potentials are found at a time */
  HALO_ALL_PAIRS =
      1024 /**< HALO_PAIRS: most particles of which all pairs are summed; they have no nodes */
};

/** A tree, or particles without nodes. Order of nodes: photons/domain/tree.h. */
struct part_tree {
  uint32_t first, count; /**< rows of its particles, in the order of the tree */
  uint32_t node;         /**< index of its node 0, which is not used */
  uint32_t depth;
};

struct halo_part {
  uint32_t trees, rows, nodes;  /**< in all */
  uint32_t first, count;        /**< the rows that a task finds something of */
  const struct part_tree *tree; /**< [trees] by rising row */
};

/** Low and high ends of a node's box: struct halo_node. */
struct density_box {
  double low[HALO_PHASE_AXES], high[HALO_PHASE_AXES];
};

/** Trees of phase space, of whose particles the densities are found. */
struct density_part {
  struct halo_part of;          /**< rows are whole leaves */
  double (*x)[HALO_PHASE_AXES]; /**< [rows] coordinates; read only */
  struct density_box *box;      /**< [nodes]; read only */
  double *density;              /**< [count] of the rows */
  uint32_t (*neighbour)
      [HALO_LINKED]; /**< [count] places in the tree by rising distance; of fewer particles as many as there are */
};

/** A node as a point: struct source_node. */
struct part_node {
  float centre[3], side;
};

/** Particles of candidates for subhalos, whose potentials in their own field are found. */
struct potential_part {
  struct halo_part
      of; /**< rows of a tree begin with a multiple of HALO_POTENTIALS, and so do those of a task */
  float *
      x; /**< of the particles of a tree [3][its count], from 3 times its first row on; read only */
  struct part_node *node; /**< [nodes]; read only */
  double *sum; /**< [count] of 1/sqrt(r^2 + softening^2) over all particles of the tree */
  float softening;
};

#ifndef __cplusplus
/** Do on this thread what a task does. */
void density_part_find(const struct density_part *p);
void potential_part_find(const struct potential_part *p);
#endif

#endif
