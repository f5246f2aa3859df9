/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which cells of a field slabs, messages and field boxes have. For pm_cut and pm_read. */
#ifndef PHOTONS_CODELETS_FIELD_CELLS_H
#define PHOTONS_CODELETS_FIELD_CELLS_H

#include "photons/mesh/copies.h"
#include "photons/mesh/long_range.h"

/** This rank's part of a slab. */
static inline struct cell_layout layout_of_slab(const struct mesh *m, uint32_t slab) {
  const uint32_t first = slab_first(m, slab);
  return (struct cell_layout){.first = {first, m->first_y, 0},
                              .size = {slab_first(m, slab + 1) - first, m->ys, m->cells},
                              .plane = plane_floats(m),
                              .row = m->row};
}

/** A part of a message, of one field. */
static inline struct cell_layout layout_of_part(const struct field_part *p) {
  return (struct cell_layout){.first = {p->first[0], p->first[1], p->first[2]},
                              .size = {p->size[0], p->size[1], p->size[2]},
                              .plane = (size_t)p->size[1] * p->size[2],
                              .row = p->size[2]};
}
/** Where a field of a part begins in its message. */
static inline size_t field_at(const struct field_part *p, uint32_t field) {
  return p->at + (size_t)field * p->size[0] * p->size[1] * p->size[2];
}

/** A field box, of one field. A row all around the box goes on with its first cells. */
static inline struct cell_layout layout_of_box(const struct mesh *m, const struct field_box *b) {
  return (struct cell_layout){
      .first = {b->first, b->origin[0], b->origin[1]},
      .size = {b->planes, b->size[0], b->size[1] == m->cells ? b->row : b->size[1]},
      .plane = field_box_floats(b),
      .row = b->row};
}

#endif
