/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load balance between processes. */
#ifndef PHOTONS_BALANCE_H
#define PHOTONS_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct domain;

enum { BALANCE_STEPS = 4 }; /* steps that are measured before groups may move */

/**
 * Cut a row of costs into `parts` runs such that the most expensive is as cheap as possible.
 * @param cost   [n], >= 0
 * @param first  [parts + 1] on return: part p is first[p] .. first[p + 1] - 1; empty parts where n < parts
 * @return the cost of the most expensive part
 */
double balance_cut(const double *cost, uint32_t n, uint32_t parts, uint32_t *first);

/**
 * Take the measured seconds out of all groups and decide who should have which. What belongs to no group (the mesh) is not moved.
 * @param[out] first  [comm_size() + 1] owners' first groups, where groups should migrate
 * @return whether the time saved over the next steps pays for the move. The same on every process.
 */
bool balance_wanted(struct domain *d, uint32_t *first);

#endif
