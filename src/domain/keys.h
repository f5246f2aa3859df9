/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of particles, and their order by exact medians. */
#ifndef PHOTONS_KEYS_H
#define PHOTONS_KEYS_H

#include <stddef.h>
#include <stdint.h>

/** A particle's position and its place in the old order. */
struct key {
  uint32_t x[3];
  uint32_t index; /* place in the old order; no two keys are equal */
};

/**
 * The side along which a box is cut: the longest one. Lengths that differ by less than a sixteenth
 * count as equal; then x is preferred to y and y to z. The first levels (groups^(1/3) parts) are
 * cut along x, so that domains match mesh slabs and little mesh data moves. The rule is the same
 * for one rank, since groups must not depend on the number of ranks.
 * @param level   of the ORB tree, 0 for the first cut
 * @param groups  their number, a power of two
 */
static inline int side_to_cut(unsigned level, uint32_t groups, const uint32_t low[3],
                              const uint32_t high[3]) {
  if (level < 11 && (groups - 1) >> 3 * level > 0) return 0;
  uint64_t side[3];
  for (int c = 0; c < 3; c++) side[c] = (uint64_t)(high[c] - low[c]) * (uint64_t)(17 - c) / 16;
  return side[0] >= side[1] && side[0] >= side[2] ? 0 : side[1] >= side[2] ? 1 : 2;
}

/** Arrange the n keys of a box so that the first `rank` keys are the smallest along
 * side_to_cut(). */
void keys_cut(struct key *keys, size_t n, size_t rank, unsigned level, uint32_t groups);

/**
 * Arrange a group's keys in the order of its tree, so that every node's particles are consecutive.
 * @param depth  of the leaves
 */
void keys_into_tree(struct key *keys, uint32_t count, unsigned depth);

#endif
