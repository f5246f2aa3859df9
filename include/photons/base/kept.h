/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory this rank has taken for what it knows of other ranks: tables and lists whose size depends on
 * the number of ranks or of all groups, rather than on the particles of this rank. Counted by its kind, for
 * log/ranks.csv. */
#ifndef PHOTONS_KEPT_H
#define PHOTONS_KEPT_H

#include <stddef.h>

/** Kinds of such memory. */
enum kept {
  KEPT_GROUPS, /**< the domain's table of own groups and those that are met */
  KEPT_RUNGS,  /**< particles by rung of own groups, with block steps */
  KEPT_BOXES, /**< domains of all ranks and boxes of these groups, while neighbours are searched; then where the
                  targets of all ranks are, while ghosts are found */
  KEPT_COSTS,   /**< of units of groups, for the balance between ranks */
  KEPT_GHOSTS,  /**< lists of ghosts, and which parts of their trees are sent */
  KEPT_SOURCES, /**< positions, trees and multipoles of ghosts that are received */
  KEPT_WALKS, /**< nodes above groups, and which of them and which groups walks of own groups begin with */
  KEPT_CELLS,  /**< cells of the mesh of groups that this rank meets */
  KEPT_PIECES, /**< lists of mesh planes that are sent or received */
  KEPT_BLOCKS, /**< tables of the slabs and transpose blocks of the mesh */
  KEPT_CUTS, /**< nodes and cuts, while the domain is decomposed; with GPUs what ranks tell each other of particles that move */
  KEPT_COUNTS, /**< particles by digits of the cuts, of all chunks of this rank */
  KEPT_TIES,   /**< particles at the cuts */
  KEPT_OCTREE, /**< of gas: the patch groups of all levels and how they are linked */
  KEPT_LEVELS, /**< of gas: batches and values of the patch groups of all levels */
  KEPT_FOF, /**< boxes of ORB groups and domains of all ranks, while friends of friends are searched */
  KEPT_GREEN, /**< the table of Green's function */
  KEPT_COUNT
};

/** So many bytes are taken now. From any thread. */
void kept_set(enum kept kind, size_t bytes);
/** The most bytes that have been taken at a time. */
size_t kept_most(enum kept kind);
const char *kept_name(enum kept kind);

#endif
