/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of all outputs that are linked. */
#ifndef PHOTONS_TREE_FOREST_H
#define PHOTONS_TREE_FOREST_H

#include "photons/analysis/tree.h"

/** An object of an output as a node of its tree. */
struct tree_node {
  uint64_t tree;                                 /**< number of the tree */
  uint64_t output, number;                       /**< of the object */
  uint64_t descendant_output, descendant_number; /**< TREE_NONE: it is the root of its tree */
  struct tree_object object;
};

/** A tree is an object without a descendant, its root, and all objects of which descendants lead to
 * the root; trees that have subhalos of one halo in any output are one tree with several roots. Trees
 * with roots in the last output come first, in the order of the first of these. In a tree later outputs
 * come first, and objects of an output in their order: a root is first. */
struct tree_forest {
  size_t first_output, outputs; /**< outputs are numbered from first_output on */
  double *a;                    /**< [outputs] scale factors */
  uint64_t trees, nodes;        /**< of the run */
  uint64_t first_tree, first_node;
  size_t tree_count, node_count; /**< of this rank, which has whole trees */
  uint64_t *length;              /**< [tree_count] nodes of the tree */
  struct tree_node *node;        /**< [node_count] in order */
};

/** Read the files of links up to the output @p last, which has one. Collective. */
struct tree_forest tree_forest_read(const struct parameters *p, size_t last);
void tree_forest_free(struct tree_forest *f);

/** What nodes point to: places in the tree, -1 where there is none. */
struct tree_pointers {
  int64_t tree, index, output, number; /**< of the node; index: its place in the tree */
  int64_t descendant;
  int64_t first_progenitor; /**< main progenitor: the one with the largest mass history */
  int64_t next_progenitor;  /**< of the same descendant, the next by falling mass history */
  int64_t first_in_group, next_in_group; /**< objects of the same halo */
  double history; /**< mass of the node and of all its main progenitors, 1e10 Msun/h */
};

/** @return [node_count] the pointers of this rank's nodes; free() them. Local. */
struct tree_pointers *tree_forest_point(const struct tree_forest *f);

#endif
