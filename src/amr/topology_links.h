/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is beside, above and below the groups that a rank knows. */
#ifndef PHOTONS_TOPOLOGY_LINKS_H
#define PHOTONS_TOPOLOGY_LINKS_H

#include "photons/amr/topology.h"
#include "photons/runtime/stage.h"

/** A level has new keys, or its groups other ranks: find the groups that this rank now knows, and link those that the
 * change concerns. Collective where groups are divided. */
void topology_link(struct topology *t, int level);
void topology_unlink(struct gas_tree_level *l);

/** Loops over groups of large levels. */
extern struct stage gas_groups_stage;

#endif
