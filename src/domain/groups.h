/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the groups of this rank. */
#ifndef PHOTONS_GROUPS_H
#define PHOTONS_GROUPS_H

struct domain;

/** Make the table of the groups that this rank owns now, without handles, and of their times. */
void groups_take(struct domain *d);
/** Free these tables, and that of the groups that were met. Handles must be unregistered. */
void groups_leave(struct domain *d);

#endif
