/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making the nodes of photons/tree/upper.h. */
#ifndef PHOTONS_UPPER_NODES_H
#define PHOTONS_UPPER_NODES_H

#include "photons/tree/upper.h"

/** After upper_tell(): make the nodes above those of this rank and what it was told of.
 * @param targets  whether groups of this rank have any; else it was told of nothing, and there are no such nodes */
void upper_make_top(struct short_range *s, bool targets);

#endif
