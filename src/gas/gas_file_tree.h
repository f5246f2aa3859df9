/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The patches of an octree as files of GAMER's layout number them: level by level, group by group,
 * and within a group in GAMER's order, which is not that of memory. */
#ifndef PHOTONS_GAS_FILE_TREE_H
#define PHOTONS_GAS_FILE_TREE_H

#include "photons/amr/kernels.h"
#include "photons/amr/topology.h"

enum { TREE_SIBLINGS = 26, TREE_OUTSIDE = -100 };

/** The patch x + 2y + 4z of memory that is patch i of a group in a file, and the other way round:
 * the order is its own inverse. */
extern const unsigned char tree_order[GAS_PATCHES];

/** Number of the first patch of a level; of finest + 1: the number of all patches. */
size_t tree_first(const struct topology *t, int level);

/** Where patch @p i of a file's group is, in units of the side of a patch. */
void tree_place(const struct gas_group *group, int i, uint32_t place[3]);
/** The patch that contains a group; -1 on level 0. */
int32_t tree_father(const struct topology *t, int level, const struct gas_group *group);
/** The first of the patches that patch @p i of a file's group contains; -1 without them. */
int32_t tree_son(const struct topology *t, int level, const struct gas_group *group, int i);
/** The neighbour of patch @p i of a file's group in direction @p s of GAMER's; -1 without one;
 * outside a box that is not periodic TREE_OUTSIDE - (direction of the side, edge or corner of the
 * box that is crossed). */
int32_t tree_sibling(const struct topology *t, int level, const struct gas_group *group, int i,
                     int s);

#endif
