/* A group's particles in the order of its tree. */
#ifndef PHOTONS_GROUP_SORT_H
#define PHOTONS_GROUP_SORT_H

#include <stdint.h>

#include "photons/domain/particles.h"

/**
 * Put the particles of a group back in the order of its tree, from which they stray as they move:
 * every node's particles, below the leaves down to TREE_BLOCK too, are cut in two by the median along
 * the longest side of their box. Ties fall in the order that was.
 * @param depth   of the leaves
 * @param centre  of the group's box: its particles lie within half a box of it
 * @param column  the group's part of each column, [components][count]
 */
void group_sort(uint32_t count, unsigned depth, const uint32_t centre[3],
                void *const column[PARTICLE_COLUMN_COUNT]);

#endif
