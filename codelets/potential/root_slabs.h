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

/** Planes of a slab, in the mesh. */
static inline struct gpu_root_planes root_planes(const struct root_gpu *r, uint32_t part) {
  return (struct gpu_root_planes){part * r->size.planes, (part + 1) * r->size.planes};
}

/** Whether a slab has planes of a batch of the root level. */
static inline bool root_slab_has(const struct gas *g, const struct root_gpu *r, uint32_t part,
                                 uint32_t batch) {
  const struct gas_batch *b = &g->level[0].batch[batch];
  const struct gpu_root_planes planes = root_planes(r, part);
  for (uint32_t i = 0; i < b->count; i++) {
    const uint32_t low = GAS_GROUP_SIDE * g->topology.level[0].group[b->first + i].place[2];
    if (low < planes.end && low + GAS_GROUP_SIDE > planes.first) return true;
  }
  return false;
}

/** Complex numbers of a row. */
static inline size_t root_row(const struct root_gpu *r) { return r->size.size[0] / 2 + 1; }
/** Bytes of a piece, and of the part of it in a plane. */
static inline size_t root_piece_row(const struct root_gpu *r) {
  return r->size.lines * root_row(r) * sizeof(double[2]);
}
static inline size_t root_piece_bytes(const struct root_gpu *r) {
  return r->size.planes * root_piece_row(r);
}

/** Copy pieces out of a slab, or into it. @param pieces  from this buffer on */
static inline void root_copy_pieces(struct gpu *gpu, const struct root_gpu *r, char *slab,
                                    void *pieces[], bool cut) {
  const size_t width = root_piece_row(r), stride = r->parts * width;
  for (uint32_t k = 0; k < r->parts; k++) {
    char *inside = slab + k * width, *piece = VECTOR(char, pieces[k]);
    if (cut)
      gpu_copy_rows(gpu, piece, width, inside, stride, width, r->size.planes);
    else
      gpu_copy_rows(gpu, inside, stride, piece, width, width, r->size.planes);
  }
}

/** Slots for the pieces of a slab. */
static inline void root_piece_slots(struct slots *s, const struct root_part *a,
                                    enum starpu_data_access_mode mode) {
  for (uint32_t k = 0; k < a->root->parts; k++)
    slots_add(s, a->root->piece[a->part * a->root->parts + k], mode);
}

#endif
