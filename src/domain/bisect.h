/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orthogonal recursive bisection of particles that are spread over many ranks. */
#ifndef PHOTONS_BISECT_H
#define PHOTONS_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct domain;

/** A node that is being split. */
struct cut {
  uint32_t node; /* in its level */
  int axis;
  uint64_t left;  /* particles of all ranks still to be found on the left of `value` */
  uint32_t value; /* median, as far as its digits are known */
};

/** Find one more digit of a median: that at which the cumulated number of particles first exceeds `left`;
 * the last one if all particles go left. Returns the digit.
 * @param of_value  [DIGIT_VALUES] particles in the node with each value of the digit */
uint32_t cut_find_digit(struct cut *cut, int digit, const uint64_t *of_value);

/** The digit that was found last. */
uint32_t cut_digit(const struct cut *cut, int digit);

/** Cuts of one level, and those whose nodes may hold particles of this rank. */
struct level_cuts {
  unsigned level;
  struct cut *cut; /* [cuts] by rising node */
  uint32_t cuts;
  uint32_t *here; /* [rows] of `cut`, rising */
  bool *held;     /* [rows] whether there are particles of this rank */
  uint32_t rows;
  bool by_all;                 /* all ranks add up the counts of all cuts */
  uint32_t first, end;         /* cuts whose medians are looked for now, */
  uint32_t first_row, end_row; /* and their rows */
  size_t bytes;                /* that the level has taken for counts, for kept_set() */
};
/** Find the rows of a level, and look at all of them: children of nodes that held particles of this rank may
 * hold some, too. @param held  [helds] these nodes of the level before, rising */
void cuts_find_rows(struct level_cuts *c, const uint32_t *held, uint32_t helds);
/** Choose the axes of all cuts of a level from the boxes of the particles of all ranks. Collective.
 * @param low, high  [row] of this rank's particles; low > high: there are none */
void cuts_choose_axes(const struct domain *d, struct level_cuts *c, uint32_t (*low)[3],
                      uint32_t (*high)[3]);
/** How many cuts of a level are counted together: all, unless most ranks have particles of most nodes, as of
 * files whose particles are in no order. Then there is room for few, and all ranks add up their counts. Collective.
 * @param held  rows with particles of this rank */
uint32_t cuts_together(struct level_cuts *c, uint32_t held);
/** Look at `count` cuts from @p first on, or as many as there are. */
void cuts_look_at(struct level_cuts *c, uint32_t first, uint32_t count);
/** Find one more digit of the medians that are looked for, of the nodes that may hold particles of this
 * rank. The particles of all ranks are counted. Collective.
 * @param of_value  [row - first_row][DIGIT_VALUES] particles of this rank with each value of the digit */
void cuts_find_digit(const struct domain *d, struct level_cuts *c, int digit,
                     const uint64_t *of_value);

/** A node of the ORB tree, above the groups or one of them, that one rank will split further: node
 * `index` of its level. */
struct orb_part {
  unsigned level;
  uint32_t index;
  int owner;
};

/** The parts of the domain, and the part of each of this rank's particles. */
struct orb_parts {
  uint32_t count;
  struct orb_part *part; /* [count] by group, hence by owner */
  uint32_t *part_of;     /* [particle of this rank] */
};

/** Split the particles of all ranks, by exact medians along the longest side, down to parts of one
 * owner each, or down to groups. No particle is moved: a median is found digit by digit from counts,
 * which are summed over ranks and workers. Ties keep the order of the particles over all ranks.
 * Collective. */
struct orb_parts orb_split(struct domain *d, bool groups);
void orb_parts_free(struct orb_parts *p);

#endif
