/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups a rank meets on the mesh. */
#ifndef PHOTONS_MESH_MET_H
#define PHOTONS_MESH_MET_H

#include "photons/mesh/long_range.h"

/** This rank's groups, and those of others that read planes of this rank, by rising index and without handles. For
 * their present boxes. Collective. */
struct cells_list find_met(const struct long_range *l);

#endif
