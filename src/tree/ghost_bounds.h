/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on what walks of isolated systems open: where the targets of a rank are, and how wide, heavy and weakly
 * accelerated they can be. What is within the bounds may be opened; what is not is opened by no walk. */
#ifndef PHOTONS_GHOST_BOUNDS_H
#define PHOTONS_GHOST_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/domain/tree.h"

struct group;
struct short_range;

enum { REGIONS_MOST = 16 };

/** Where some targets are. */
struct region {
  struct node box; /**< of all; its acc_min is the least of any node */
  float leaf;      /**< radius of the widest leaf, at most */
  float widest;    /**< radius of any node of any group, at most */
  float mass;      /**< of the heaviest group's targets, at most */
};

/** The targets of a rank. */
struct rank_targets {
  uint32_t regions; /**< 0: none */
  struct region all, region[REGIONS_MOST];
};

/** Bounds on the targets of some consecutive groups, whose upper trees and numbers of targets are known here. A region
 * has the groups of a node of the ORB tree, the lowest level of which all have room.
 * @param group  [groups] */
struct rank_targets ghost_targets(const struct short_range *s, const struct group *group,
                                  size_t groups);
/** What walks of such targets may need of the tree and of the particles of a group, besides its root.
 * @param[out] below  as in struct tree_part; no bit is set before */
void ghost_part(const struct short_range *s, const struct group *source,
                const struct rank_targets *targets, uint64_t *below);
/** Whether a walk of the targets of a group may open a node above other groups. If not it accepts that node, with the
 * group's root or with smaller nodes. The answer is the same on any number of ranks.
 * @param above  as in photons/tree/upper.h */
bool ghost_may_open_above(const struct short_range *s, const struct group *targets,
                          const struct group *above);
/** The same for a group of another rank: true where it is for any of that rank's groups. */
bool ghost_may_open_above_any(const struct short_range *s, const struct rank_targets *targets,
                              const struct group *above);

#endif
