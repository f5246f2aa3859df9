/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How what a group deposits and reads is cut into pieces, each on one rank. */
#ifndef PHOTONS_MESH_PIECES_H
#define PHOTONS_MESH_PIECES_H

#include <stdbool.h>

#include "photons/mesh/long_range.h"

enum { MESH_MESSAGE_MOST = 1 << 28 }; /**< floats of a message: MPI counts bytes with int */

/** The most pieces of a group: the first and the last run of planes, and of rows, may have the same owner. */
size_t pieces_most(const struct mesh *m);
/** Cut the cells that a group deposits to. @param without  rank whose pieces are left out; -1: none
 * @param[out] piece  [pieces_most()] @return their number */
uint32_t cut_patch(const struct mesh *m, const struct patch *p, int without,
                   struct mesh_piece *piece);
/** The same of the fields that a group reads, among which are all planes that it deposits to. */
uint32_t cut_field_box(const struct mesh *m, const struct field_box *box, struct mesh_piece *piece);

/** Note that a group comes to something, such as a rank of one of its pieces. All that one group comes to is noted before
 * the next one's.
 * @param latest  of the thing: the latest group that has come to it, counted from 1; 0: none has
 * @return whether the group has not come to it before */
static inline bool comes_first(uint32_t *latest, uint32_t group) {
  const bool first = *latest != group + 1;
  *latest = group + 1;
  return first;
}

#endif
