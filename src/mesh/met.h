/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How groups are cut into pieces of ranks, and which groups a rank meets on the mesh. */
#ifndef PHOTONS_MESH_MET_H
#define PHOTONS_MESH_MET_H

#include "photons/mesh/long_range.h"

/** The most pieces of a group: the first and the last run of planes, and of rows, may have the same owner. */
size_t pieces_most(const struct mesh *m);
/** Cut the fields that a group reads, among which are all planes that it deposits to, into pieces that one rank
 * owns. @param[out] piece  [pieces_most()] @return their number */
uint32_t cut_field_box(const struct mesh *m, const struct field_box *box, struct mesh_piece *piece);

/** This rank's groups, and those of others that read planes of this rank, by rising index and without handles. For
 * their present boxes. Collective. */
struct cells_list find_met(const struct long_range *l);

#endif
