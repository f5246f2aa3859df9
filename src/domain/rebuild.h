/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the particles of all ranks come into groups. */
#ifndef PHOTONS_REBUILD_H
#define PHOTONS_REBUILD_H

#include <stdbool.h>

struct domain;

/**
 * Cut the particles of all ranks into groups by orthogonal recursive bisection, and move them to the
 * owners of their groups. Collective. If handles are registered: between domain_acquire() and
 * domain_release().
 * @param trees  also sort the particles of each group in the order of its tree; without, they keep
 *               the order that they had, and tasks of sort_submit() must follow
 */
void orb_rebuild(struct domain *d, bool trees);

#endif
