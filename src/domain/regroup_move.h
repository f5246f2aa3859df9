/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old groups while new ones are made of their particles by tasks, and the move of the particles. */
#ifndef PHOTONS_REGROUP_MOVE_H
#define PHOTONS_REGROUP_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/domain/codelets.h"

struct cut;

/** An old group of this rank. */
struct old_group {
  struct group_cut pass;
  uint32_t *node;         /* [row] of the level */
  struct node_part *part; /* [side] what the group has on each side of the cuts */
  uint32_t *ties;         /* [row] particles at the median */
};

struct regrouping {
  struct domain *d;
  uint32_t first, groups;         /* this rank's groups */
  struct old_group *old;          /* [own group] */
  struct cut *cut;                /* [node of the level] */
  uint32_t (*low)[3], (*high)[3]; /* [node of the level] box */
  uint64_t *of_value;             /* [node of the level][DIGIT_VALUES] */
};

/** For each side that holds particles of an old group: its node's cut, and the node. */
#define FOR_CUTS(o, c, of)                                                   \
  for (uint32_t s = 0, of; s < (o)->pass.sides; s++)                         \
    for (struct node_cut *c = (o)->part[s].count ? &(o)->pass.cut[s] : NULL; \
         c && (of = (o)->node[c->row], true); c = NULL)

/** After the last cut: bring each column of the particles to the new groups, one column after the other. This column exists
 * twice meanwhile. What ranks tell each other takes up 12 B for each pair of an old and a new group of different ranks that
 * have particles in common. Collective. */
void regroup_move(const struct regrouping *r);

#endif
