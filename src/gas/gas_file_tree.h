/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which patch of a file is where. Patches are numbered level by level, group by group, and within a
 * group in GAMER's order, which is not that of memory. */
#ifndef PHOTONS_GAS_FILE_TREE_H
#define PHOTONS_GAS_FILE_TREE_H

#include "photons/gas/gas_file.h"

enum { TREE_SIBLINGS = 26, TREE_OUTSIDE = -100 };

/** The patch x + 2y + 4z of memory that is patch i of a group in a file, and the other way round:
 * the order is its own inverse. */
extern const unsigned char tree_patch_order[GAS_FILE_GROUP_PATCHES];
/** Directions of the neighbours of a patch in the order of GAMER's files. */
extern const signed char tree_direction[TREE_SIBLINGS][3];

/** For looking up patches by their places. */
struct tree {
  const struct gas_file *file;
  uint64_t *key[GAS_FILE_LEVELS_MOST];    /**< Morton keys of the groups */
  size_t first[GAS_FILE_LEVELS_MOST + 1]; /**< number of the first patch of each level */
};

/** @param f must not change while the tree is used */
struct tree tree_make(const struct gas_file *f);
void tree_free(struct tree *t);

/** Position of patch @p i of a file's group, in units of the side of a patch. */
void tree_place(const struct gas_file *f, size_t level, size_t group, size_t i, int32_t place[3]);
/** Morton key of a place. */
uint64_t tree_key(const int32_t place[3]);
/** Number of the patch at a place, in units of the side of a patch; -1 where there is none. */
int32_t tree_find(const struct tree *t, size_t level, const int32_t place[3]);
/** The patch that contains this one; -1 on level 0. */
int32_t tree_father(const struct tree *t, size_t level, const int32_t place[3]);
/** The first of the patches that this one contains; -1 without them. */
int32_t tree_son(const struct tree *t, size_t level, const int32_t place[3]);
/** The neighbour in direction @p s; -1 without one; TREE_OUTSIDE - (direction of the side, edge or
 * corner of the box that is crossed) outside a box that is not periodic. */
int32_t tree_sibling(const struct tree *t, size_t level, const int32_t place[3], size_t s);

/** What is wrong with the places: too far out, not in order, or a group whose father is not there.
 * @return NULL where nothing is */
const char *tree_fault(const struct tree *t);

#endif
