/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of particles, put in order by exact medians. */
#ifndef PHOTONS_KEYS_H
#define PHOTONS_KEYS_H

#include <stddef.h>
#include <stdint.h>

/** A particle on its way to its place. */
struct key {
  uint32_t x[3];
  uint32_t index; /* in the old order; breaks ties, so that no two keys are equal */
};

/**
 * The side along which the boxes of a level are cut: the longest, but x before y before z where they differ by less than a sixteenth. All cuts
 * along x that groups need come first: processes then have slabs, as of the mesh, and what their groups write to and read of it is
 * their own. This is so on one process as well, since groups may not depend on the number of processes.
 * @param level  of the ORB tree, 0 for the first cut  @param groups  their number, a power of two
 */
static inline int side_to_cut(unsigned level, uint32_t groups, const uint32_t low[3], const uint32_t high[3]) {
  if (level < 11 && (groups - 1) >> 3 * level > 0) return 0;
  uint64_t side[3];
  for (int c = 0; c < 3; c++) side[c] = (uint64_t)(high[c] - low[c]) * (uint64_t)(17 - c) / 16;
  return side[0] >= side[1] && side[0] >= side[2] ? 0 : side[1] >= side[2] ? 1 : 2;
}

/** Arrange the n keys of a box so that the first `rank` are the smallest along the side to cut. */
void keys_cut(struct key *keys, size_t n, size_t rank, unsigned level, uint32_t groups);

/** Arrange a group's keys in the order of its tree: every node's particles in a row. @param depth  of its leaves */
void keys_into_tree(struct key *keys, uint32_t count, unsigned depth);

#endif
