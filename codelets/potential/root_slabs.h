/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The root level's mesh in slabs, one for each home, for the stages that transform it on several GPUs.
 * A slab is [z here][y][row], its rows have been transformed along x and y. Lines are [z][y here][row].
 * What a slab has of the lines of a home is a piece, [z here][y there][row]. */
#ifndef PHOTONS_CODELETS_POTENTIAL_ROOT_SLABS_H
#define PHOTONS_CODELETS_POTENTIAL_ROOT_SLABS_H

#include "codelets/potential/potentials.h"
#include "photons/potential/root_gpu.h"

/** A slab, or the lines of a home. */
struct root_part {
  struct gas *gas;
  const struct root_gpu *root;
  uint32_t part;
};

/** Whether a slab has some of these planes of the root level. */
static inline bool root_slab_meets(const struct root_gpu *r, uint32_t part,
                                   struct gpu_root_planes planes) {
  const struct gpu_root_planes here = root_planes(r, part);
  return planes.first < here.end && planes.end > here.first;
}
/** Whether it has planes of an own batch. */
static inline bool root_slab_has(const struct root_gpu *r, uint32_t part, uint32_t batch) {
  return root_slab_meets(r, part, root_own_planes(r, batch));
}

/** The piece that a slab has of the lines of a home; this rank has one of both. */
static inline starpu_data_handle_t root_piece(const struct root_gpu *r, uint32_t slab,
                                              uint32_t lines) {
  return root_is_own(r, slab) ? r->sent[(slab - r->first) * r->parts + lines]
                              : r->received[slab * r->homes + lines - r->first];
}

/** Complex numbers of a row. */
static inline size_t root_row(const struct root_gpu *r) { return r->size.size[0] / 2 + 1; }
/** Bytes that a piece has in a plane, also where the last home has fewer lines. */
static inline size_t root_piece_row(const struct root_gpu *r) {
  return r->size.lines * root_row(r) * sizeof(double[2]);
}

static inline size_t root_slab_bytes(const struct root_gpu *r) {
  return (size_t)r->size.planes * r->size.size[1] * root_row(r) * sizeof(double[2]);
}

/** Copy pieces out of a slab, or into it. @param pieces  from this buffer on */
static inline void root_copy_pieces(struct gpu *gpu, const struct root_part *a, char *slab,
                                    void *pieces[], bool cut) {
  const struct root_gpu *r = a->root;
  const struct gpu_root_planes here = root_planes(r, a->part);
  const size_t row = root_row(r) * sizeof(double[2]), each = root_piece_row(r),
               stride = r->size.size[1] * row, planes = here.end - here.first;
  for (uint32_t k = 0; k < r->parts && planes > 0; k++) {
    const struct gpu_root_planes lines = root_lines(r, k);
    const size_t width = (lines.end - lines.first) * row;
    char *inside = slab + lines.first * row, *piece = VECTOR(char, pieces[k]);
    if (width == 0) continue;
    if (cut)
      gpu_copy_rows(gpu, piece, each, inside, stride, width, planes);
    else
      gpu_copy_rows(gpu, inside, stride, piece, each, width, planes);
  }
}

/** Slots for the pieces of a slab. */
static inline void root_piece_slots(struct slots *s, const struct root_part *a,
                                    enum starpu_data_access_mode mode) {
  for (uint32_t k = 0; k < a->root->parts; k++) slots_add(s, root_piece(a->root, a->part, k), mode);
}

#endif
