/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of cells between slabs, messages and what a group reads. */
#ifndef PHOTONS_MESH_COPIES_H
#define PHOTONS_MESH_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which cells an array of a field has: size[c] cells along axis c from first[c] on, modulo N. */
struct cell_layout {
  uint32_t first[3], size[3];
  size_t plane, row; /**< floats from one plane to the next, and from one row to the next */
};

/** Rows that are copied: of each of some planes the same number of rows, of the same number of cells. */
struct cell_copy {
  const float *from;
  float *to;
  uint32_t cells, rows, planes;
  uint32_t before; /**< rows of all copies before this one */
  size_t from_plane, from_row, to_plane, to_row;
};
/** Copies that do not depend on each other. */
struct cell_copies {
  struct cell_copy *copy;
  uint32_t count, room;
  uint32_t rows; /**< of all of them */
};

/** Whether two arrays have cells in common. @param cells  N */
bool cells_meet(uint32_t cells, const struct cell_layout *from, const struct cell_layout *to);
/** Add the copies of the cells that two arrays have in common.
 * @param cells  N
 * @param from   array that does not wrap around, with data at `source`
 * @param to     array of at most N + 4 cells along each axis, with data at `target`: on cores as the first one, or on the
 *         same GPU. Where it has a cell twice, both are written */
void copies_add(struct cell_copies *list, uint32_t cells, const struct cell_layout *from,
                const float *source, const struct cell_layout *to, float *target);
/** Copy on cores. */
void copies_run(const struct cell_copies *list);
void copies_free(struct cell_copies *list);

#ifdef __cplusplus
}
#endif

#endif
