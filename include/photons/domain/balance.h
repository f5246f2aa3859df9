/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load balance between ranks: groups move to other ranks when the measured time of their tasks
 * shows that this pays. */
#ifndef PHOTONS_BALANCE_H
#define PHOTONS_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct domain;

enum { BALANCE_STEPS = 4 }; /* steps that are measured before groups may move */

/**
 * Cut a row of costs into `parts` consecutive parts such that the most expensive part is as cheap
 * as possible.
 * @param cost   [n], >= 0
 * @param first  [parts + 1] on return: part p is first[p] .. first[p + 1] - 1; parts may be empty
 *         if n < parts
 * @return the cost of the most expensive part
 */
double balance_cut(const double *cost, uint32_t n, uint32_t parts, uint32_t *first);

/**
 * Decide whether groups should move, and reset the measured seconds of all groups. Tasks that work
 * for no group (the mesh) are not counted. Collective.
 * @param[out] first  [comm_size() + 1] first group of each rank, if groups should move
 * @return whether the time saved over the next steps pays for the move; the same on every rank
 */
bool balance_wanted(struct domain *d, uint32_t *first);

#endif
