/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slots of the four stages that transform pencils between a slab, its row blocks, and its transpose blocks. */
#ifndef PHOTONS_CODELETS_MESH_ROW_BLOCKS_H
#define PHOTONS_CODELETS_MESH_ROW_BLOCKS_H

#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "photons/base/error.h"
#include "photons/mesh/long_range.h"

/** Row blocks (own part, j) of this rank's rows, or (i, own part) of its kz. */
enum row_blocks { OF_OWN_ROWS, OF_OWN_KZ };

/** Slots of a task while they are filled. */
struct row_slots {
  struct starpu_data_descr *data;
  size_t count;
};

/** @param others  slots beside the row blocks. @return free() its data */
static inline struct row_slots row_slots(const struct long_range *l, size_t others) {
  return (struct row_slots){
      allocate(l->mesh->parts + others, sizeof(struct starpu_data_descr), "task data"), 0};
}

static inline void add_slot(struct row_slots *s, starpu_data_handle_t handle,
                            enum starpu_data_access_mode mode) {
  s->data[s->count++] = (struct starpu_data_descr){handle, mode};
}

static inline void add_row_blocks(struct row_slots *s, const struct long_range *l, uint32_t set,
                                  uint32_t slab, enum row_blocks which,
                                  enum starpu_data_access_mode mode) {
  const uint32_t own = l->mesh->part;
  for (uint32_t k = 0; k < l->mesh->parts; k++)
    add_slot(s,
             which == OF_OWN_ROWS ? *row_block_of(l, set, slab, own, k)
                                  : *row_block_of(l, set, slab, k, own),
             mode);
}

/** A set's row blocks of a slab, which begin with this slot. */
static inline void unwrap_rows(void *buffers[], const struct long_range *l, uint32_t set,
                               uint32_t slab, enum row_blocks which, float complex **blocks) {
  const struct mesh *m = l->mesh;
  for (uint32_t k = 0; k < m->parts; k++) {
    const size_t size = which == OF_OWN_ROWS ? row_block_size(m, slab, m->part, k)
                                             : row_block_size(m, slab, k, m->part);
    blocks[k] = VECTOR(float complex, buffers[k]) + (l->together ? set * size : 0);
  }
}

/** A set's transpose blocks of a slab, which begin with this slot. */
static inline void unwrap_columns(void *buffers[], const struct long_range *l, uint32_t set,
                                  uint32_t slab, float complex **blocks) {
  for (uint32_t c = 0; c < l->mesh->columns; c++)
    blocks[c] = VECTOR(float complex, buffers[c]) + block_at(l, set, slab, c);
}

#endif
