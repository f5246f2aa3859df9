/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orthogonal recursive bisection of particles that lie on many processes. */
#ifndef PHOTONS_BISECT_H
#define PHOTONS_BISECT_H

#include <stddef.h>
#include <stdint.h>

struct key;
struct domain;

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
struct orb_parts orb_split(struct domain *d, const struct key *keys, size_t count);
void orb_parts_free(struct orb_parts *p);

#endif
