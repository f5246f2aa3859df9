/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The groups of other ranks that a rank knows. */
#ifndef PHOTONS_MEET_H
#define PHOTONS_MEET_H

struct domain;

/** Find the groups of other ranks that may be within reach of this rank's domain. Groups that were met before
 * keep what they have here as ghosts. Collective. */
void domain_meet(struct domain *d);

#endif
