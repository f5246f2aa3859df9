/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sort of a group's particles into the order of its tree. */
#ifndef PHOTONS_GROUP_SORT_H
#define PHOTONS_GROUP_SORT_H

#include <stdint.h>

#include "photons/domain/particles.h"

/**
 * Restore the order of a group's particles, which moving particles lose. The particles of every
 * node are cut in two by the median along the longest side of their box, at the levels of the tree
 * and further below the leaves, down to at most TREE_BLOCK particles. Ties keep the previous order.
 * @param count   particles of the group
 * @param depth   of the tree (level of the leaves)
 * @param centre  of the group's box, position units; all particles lie within half a box of it
 * @param column  the group's part of each column, [components][count]; NULL: the particles do
 *                not have the column
 */
void group_sort(uint32_t count, unsigned depth, const uint32_t centre[3],
                void *const column[PARTICLE_COLUMN_COUNT]);

/** Sort a group's particles by `side`; particles of one side keep their order.
 * @param side   [count] 0 .. sides - 1 */
void group_order(uint32_t count, const uint16_t *side, uint32_t sides,
                 void *const column[PARTICLE_COLUMN_COUNT]);

#endif
