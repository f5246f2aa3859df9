/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orthogonal recursive bisection of particles that lie on many processes. */
#ifndef PHOTONS_BISECT_H
#define PHOTONS_BISECT_H

#include <stddef.h>
#include <stdint.h>

struct simulation;

/** A particle on its way to its place. */
struct key {
  uint32_t x[3];
  uint32_t index; /* in the old order; breaks ties, so that no two keys are equal */
};

/** A node of the ORB tree above the groups that one process alone will split further: node `index` of its level. */
struct orb_part {
  unsigned level;
  uint32_t index;
  int owner;
};

/** Which part each of this process's particles belongs to. */
struct orb_parts {
  uint32_t count;
  struct orb_part *part; /* [count], from low to high groups, hence by owner */
  uint32_t *part_of;     /* [particles of this process] */
};

/**
 * Split the particles of all processes, by exact medians along the longest side, down to parts of one owner each. Nothing is
 * moved: the median is found digit by digit from counts, which are added up over processes and workers. Ties fall in the
 * order of the particles over all processes.
 * @param keys  of this process's particles, in their order, index = place
 */
struct orb_parts orb_split(struct simulation *s, const struct key *keys, size_t count);
void orb_parts_free(struct orb_parts *p);

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

#endif
