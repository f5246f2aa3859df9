/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups of a level need what of groups of other homes: what messages are made from. */
#ifndef PHOTONS_GHOST_NEEDS_H
#define PHOTONS_GHOST_NEEDS_H

#include "photons/amr/gas.h"

/** A group that one home has, and what another home needs of it. */
struct need {
  uint32_t mine, other; /* home of this rank, and the other one of the two */
  struct ghost_item item;
};

/** Consecutive groups of a level. */
struct span {
  uint32_t first, end;
};

/** The groups of a level that a home has. */
struct home_span {
  struct span groups;
  uint32_t home;
};

/** What is found of a kind of messages in one direction, of a part of the groups of a home. */
struct needs {
  const struct gas *gas;
  int level;
  bool sent;
  uint32_t mine;        /* the home */
  uint32_t part, parts; /* which part of the groups of the home, of how many */
  struct span
      own[3]; /* groups of the home: of the next coarser level, of the level, of the next finer one */
  uint32_t father;            /* that was looked at last */
  bool father_inside;         /* the home has all its neighbours */
  struct home_span latest[3]; /* home of another group that was looked at last: of the same levels */
  size_t count, room;
  struct need *need;
};

/** Find what a home of this rank sends or receives of a kind: the part's share of it. */
void needs_find(struct needs *s, enum ghost_kind kind, uint32_t home);
/** Sort by homes and group, and join what is needed of a group. */
void needs_sort(struct needs *s);

#endif
