/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells that are in any of some boxes, each of them once. */
#ifndef PHOTONS_MESH_UNITE_H
#define PHOTONS_MESH_UNITE_H

#include <stddef.h>
#include <stdint.h>

/** Cells first .. end - 1 along x, y and z. */
struct mesh_box {
  uint32_t first[3], end[3];
};
struct mesh_boxes {
  struct mesh_box *box;
  size_t count, room;
};

/** Add a box that has cells. */
void boxes_add(struct mesh_boxes *list, struct mesh_box box);

/**
 * Replace boxes by others that have the same cells, each cell in one box. The new boxes are as long as they can be along z,
 * then along y, then along x, and in the order of their first cells. They depend on the cells alone, not on the boxes
 * before. Time: for each plane where a box begins or ends all boxes at this plane, and for each row of the plane where one
 * begins or ends all boxes at this row.
 */
void boxes_unite(struct mesh_boxes *list);

#endif
