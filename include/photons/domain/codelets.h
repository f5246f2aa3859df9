/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the domain as tasks. */
#ifndef PHOTONS_DOMAIN_CODELETS_H
#define PHOTONS_DOMAIN_CODELETS_H

#include <stdint.h>

#include "photons/runtime/loop.h"

struct domain;
struct group;

/** Loops of the host: rebuilds, and the search for neighbours. */
extern struct stage rebuild_stage, neighbours_stage;

/** Put the particles of a group back in the order of its tree; a refit must follow. */
void sort_submit(const struct domain *d, struct group *g);
/** Pack the positions of own groups that other ranks need, send and receive positions and trees, and put
 * received positions where they stand in their group. */
void ghosts_submit(struct domain *d);

/** Kinds of messages, see MESSAGE_KINDS. */
enum { MESSAGE_POSITION = 0, MESSAGE_TREE = 1 };

#endif
