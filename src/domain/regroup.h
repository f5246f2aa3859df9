/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New groups for particles that stay on GPUs. */
#ifndef PHOTONS_REGROUP_H
#define PHOTONS_REGROUP_H

#include <stdint.h>

struct domain;

/**
 * Cut the particles of all ranks into groups by tasks, and move them there: what orb_rebuild() does
 * without `trees`, bit by bit. The particles of each rank are in its groups. Waits for all tasks.
 * Collective.
 * @param[out] centre  [group of this rank] of the box of the particles
 */
void orb_regroup(struct domain *d, uint32_t (*centre)[3]);

#endif
