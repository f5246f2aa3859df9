/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds on what walks of isolated systems open: where the targets and the sources of a rank are, and how wide, heavy
 * and weakly accelerated they can be. What is within the bounds may be opened; what is not is opened by no walk. */
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
  float mass;      /**< of the heaviest group's targets, at most */
};

/** The targets of a rank. */
struct rank_targets {
  uint32_t regions; /**< 0: none */
  struct region all, region[REGIONS_MOST];
};

/** The groups of a rank. Consecutive groups are some at the end of one node of the ORB tree and some at the beginning
 * of the next one: there is a box for each of both. */
struct rank_sources {
  uint32_t boxes;
  /** Of all groups; the radius is that of the widest group, acc_min the least of the roots where it is known, 0 where it is
   * known of no root. */
  struct node box[2];
};

/** Bounds on the targets of some consecutive groups, whose upper trees and numbers of targets are known here. A region
 * has the groups of a node of the ORB tree, the lowest level of which all have room.
 * @param group  [groups] */
struct rank_targets ghost_targets(const struct short_range *s, const struct group *group,
                                  size_t groups);
/** Bounds on these groups as sources. */
struct rank_sources ghost_sources(const struct short_range *s, const struct group *group,
                                  size_t groups);
/** Whether walks of the targets of one rank may open the root of any group of another one. */
bool ghost_may_open_any(const struct short_range *s, const struct rank_targets *targets,
                        const struct rank_sources *sources);
/** What such walks may need of the tree and of the particles of a group, besides its root. */
struct tree_part ghost_part(const struct short_range *s, const struct group *source,
                            const struct rank_targets *targets);
/** Whether a walk of the targets of a group may open a node above other groups. If not it accepts that node, with the
 * group's root or with smaller nodes. The answer is the same on any number of ranks.
 * @param above  as in photons/tree/upper.h */
bool ghost_may_open_above(const struct short_range *s, const struct group *targets,
                          const struct group *above);

#endif
