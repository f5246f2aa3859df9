/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the domain: loops and codelets. */
#ifndef PHOTONS_DOMAIN_CODELETS_H
#define PHOTONS_DOMAIN_CODELETS_H

#include <stdint.h>

#include "photons/runtime/loop.h"

struct domain;
struct group;

/** Loops on CPUs: the rebuild of the domain, and the search for neighbours. */
extern struct stage rebuild_stage, neighbours_stage;

/** Submit the sort of a group's particles into the order of its tree. A refit must follow. */
void sort_submit(const struct domain *d, struct group *g);
/** Submit the exchange of ghosts: pack the positions that other ranks need, send and receive
 * positions and trees, and unpack received positions into their groups. Collective. */
void ghosts_submit(struct domain *d);

/** Kinds of messages, see message_transfer(). */
enum {
  MESSAGE_POSITION = 0,
  MESSAGE_TREE = 1,
  MESSAGE_MASS = 12,
  MESSAGE_NODE_MASS = 13,
  MESSAGE_TYPE = 14
};

#endif
