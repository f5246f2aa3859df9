/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orthogonal recursive bisection seen from one group of the old domain: what passes over its particles
 * need to know, and what they find. A particle's `side` is 2 row + 1 or 2 row: right or left of the cut of
 * a node, by the node's row among those of its level that hold particles of the group. */
#ifndef PHOTONS_GROUP_CUT_H
#define PHOTONS_GROUP_CUT_H

#include <stdint.h>

/** Medians are found digit by digit, the upper bits first. */
enum { DIGITS = 3, DIGIT_VALUES = 1 << 11 };
/** Bits below a digit; of digit -1: all. */
static inline unsigned digit_shift(int digit) {
  return digit < 0 ? 32 : digit == 0 ? 21 : digit == 1 ? 10 : 0;
}

/** A node that is to be cut. */
struct node_cut {
  uint32_t axis;
  uint32_t value; /**< the median, as far as its digits are known */
  uint32_t row;   /**< of the node */
  uint32_t ties;  /**< so many of the group's particles at the median, the first ones, go left */
};

/** What a group has on one side of a cut. */
struct node_part {
  uint32_t low[3], high[3]; /**< box */
  uint32_t count;
};

/** Particles that follow each other in one column and in another one. */
struct segment {
  const void *from;    /**< the column */
  uint32_t source;     /**< its number among the columns of the task */
  uint32_t from_count; /**< its particles */
  uint32_t first, to_first, count;
};

#endif
