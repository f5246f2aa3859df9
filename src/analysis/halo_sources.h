/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of a halo as the sources of a field, in single precision. Where a tree is wanted, they have a binary tree whose
 * nodes halve their numbers as they come: neighbours must follow each other, as they do in the order of a halo_tree of
 * positions. The order of nodes is that of photons/domain/tree.h. */
#ifndef PHOTONS_HALO_SOURCES_H
#define PHOTONS_HALO_SOURCES_H

#include <stdbool.h>

#include "halo_body.h"

/** A node acts as the number of its particles at their centre of mass. */
struct source_node {
  float centre[3];
  float side; /**< the longest one of the box of its particles */
};

struct halo_sources {
  uint32_t count;
  unsigned depth;
  float *x[3];              /**< [count] positions */
  struct source_node *node; /**< heap order; NULL: there is no tree */
};
/** The depth of the tree of so many particles. */
unsigned halo_sources_depth(uint32_t count);
/** @param number  [count] in `body`; NULL: 0 .. count - 1
 *  @param tree    whether nodes are made */
struct halo_sources halo_sources_create(const struct halo_body *body, uint32_t count,
                                        const uint32_t *number, bool tree);
void halo_sources_free(struct halo_sources *s);

#endif
