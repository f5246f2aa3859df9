/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_cut: copies the part of the fields that a group of another rank reads from this rank's slabs,
 * to be sent there.
 *
 * reads  slabs of all fields
 * writes a piece */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/message.h"

struct pm_cut_argument {
  const struct long_range *l;
  const struct mesh_piece *piece;
  const struct field_box *box;
};
enum { PIECE, SLABS }; /* SLABS: [field][slab], beginning at the piece's first plane */

static double pm_cut_work(const struct pm_cut_argument *a) {
  return (double)(field_box_floats(a->box) * a->piece->planes);
}

/** Number of slabs that a piece overlaps. */
static uint32_t slabs_of_piece(const struct mesh *m, const struct mesh_piece *piece) {
  return slabs_of_planes(m, piece->first, piece->planes);
}

/** Plane i of a piece in one field. */
static const float *plane_of_piece(const struct mesh *m, const struct mesh_piece *piece,
                                   uint32_t slabs, void *buffers[], uint32_t field, uint32_t i) {
  const uint32_t x = (piece->first + i) % m->cells, slab = slab_of_plane(m, x);
  const uint32_t k = (slab + m->slabs - slab_of_plane(m, piece->first)) % m->slabs;
  return VECTOR(const float, buffers[SLABS + field * slabs + k]) +
         (x - slab_first(m, slab)) * plane_floats(m);
}

static void pm_cut_cpu(void *buffers[], const struct pm_cut_argument *a) {
  const struct mesh *m = a->l->mesh;
  const uint32_t slabs = slabs_of_piece(m, a->piece);
  float *out = VECTOR(float, buffers[PIECE]);
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < a->piece->planes; i++, out += field_box_floats(a->box))
      mesh_cut_plane(m, a->box, plane_of_piece(m, a->piece, slabs, buffers, field, i), out);
}

static void pm_cut_gpu(struct gpu *gpu, void *buffers[], const struct pm_cut_argument *a) {
  (void)gpu;
  const struct mesh *m = a->l->mesh;
  const uint32_t each = a->piece->planes, planes = m->fields * each;
  const uint32_t slabs = slabs_of_piece(m, a->piece);
  const float **plane = allocate(planes, sizeof *plane, "mesh plane table");
  for (uint32_t i = 0; i < planes; i++)
    plane[i] = plane_of_piece(m, a->piece, slabs, buffers, i / each, i % each);
  gpu_cut(a->l->gpu[worker_number()], a->box, planes, plane, VECTOR(float, buffers[PIECE]));
  free(plane);
}

STAGE(pm_cut, 0x77aadd, "pm");

void pm_cut_submit(struct long_range *l, const struct group_cells *c, uint32_t k, uint32_t set) {
  const struct mesh *m = l->mesh;
  const struct mesh_piece *piece = &c->read.piece[k];
  const uint32_t first = slab_of_plane(m, piece->first), slabs = slabs_of_piece(m, piece);
  struct starpu_data_descr *data = allocate(SLABS + (size_t)m->fields * slabs, sizeof *data,
                                            "task data");
  size_t n = SLABS;
  data[PIECE] = (struct starpu_data_descr){piece->handle[set_place(l, set)], STARPU_W};
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < slabs; i++)
      data[n++] = (struct starpu_data_descr){
          l->slab_handle[slab_row(l, set, field, (first + i) % m->slabs)], STARPU_R};
  pm_cut_insert(
      (struct pm_cut_argument){l, piece, &c->field_box},
      (struct task){.data = data, .count = n, .priority = PRIORITY_HIGH, .owner = &c->group});
  free(data);
}

void pieces_transfer(struct long_range *l, uint32_t set) {
  FOR_CELLS(l, c)
  for (uint32_t k = 0; k < c->read.count; k++)
    message_transfer(c->read.piece[k].handle[set_place(l, set)], MESSAGE_PIECE + set,
                     c->group * (size_t)l->mesh->cells + k, c->read.piece[k].rank,
                     l->domain->groups[c->group].owner, PRIORITY_HIGH);
}
