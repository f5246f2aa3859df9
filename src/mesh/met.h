/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups a rank meets on the mesh. */
#ifndef PHOTONS_MESH_MET_H
#define PHOTONS_MESH_MET_H

#include "photons/mesh/long_range.h"

/** This rank's groups, and those of others that read planes of this rank, by rising index and without handles. For
 * their present boxes. Collective. */
struct cells_list find_met(const struct long_range *l);

/** Groups and ranks to which their owner tells of them. */
struct told {
  int *rank; /**< [count] of groups one after the other */
  uint32_t *group;
  uint32_t count, room;
};
/** Add the ranks of a group's pieces, other than this one, each once.
 * @param group   number among this rank's own
 * @param latest  [comm_size()] for comes_first() */
void tell_ranks(struct told *t, uint32_t group, const struct mesh_piece *piece, uint32_t count,
                uint32_t *latest);

#endif
