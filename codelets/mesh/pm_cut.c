/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_cut: copies the parts of the fields that the groups of another rank read from this rank's slabs into
 * one message to that rank, or those that a group of this rank reads beside planes of other ranks.
 *
 * reads  slabs of all fields
 * writes a message */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/message.h"

struct pm_cut_argument {
  const struct long_range *l;
  const struct mesh_message *message;
  struct mesh_range slabs; /* that the pieces overlap */
};
enum { MESSAGE, SLABS }; /* SLABS: [field][slab], beginning with the first of these slabs */

static double pm_cut_work(const struct pm_cut_argument *a) { return (double)a->message->floats; }

static const struct group_cells *cells_of_part(const struct long_range *l,
                                               const struct mesh_message *message, uint32_t i) {
  return &l->met.cells[message->part[i].cells];
}

static const struct mesh_piece *piece_of_part(const struct long_range *l,
                                              const struct mesh_message *message, uint32_t i) {
  return &cells_of_part(l, message, i)->read.piece[message->part[i].piece];
}

/** The slabs of this rank that the pieces of a message overlap. */
static struct mesh_range slabs_of_message(const struct long_range *l,
                                          const struct mesh_message *message) {
  const struct mesh *m = l->mesh;
  struct mesh_range all = {l->own_slabs.end, l->own_slabs.first};
  for (uint32_t i = 0; i < message->parts; i++) {
    const struct mesh_piece *p = piece_of_part(l, message, i);
    if (p->first + p->planes > m->cells) return l->own_slabs; /* it wraps around */
    const uint32_t first = slab_of_plane(m, p->first),
                   end = slab_of_plane(m, p->first + p->planes - 1) + 1;
    all.first = first < all.first ? first : all.first;
    all.end = end > all.end ? end : all.end;
  }
  return all;
}

/** A plane of a field. */
static const float *plane_of(const struct pm_cut_argument *a, void *buffers[], uint32_t field,
                             uint32_t x) {
  const struct mesh *m = a->l->mesh;
  const uint32_t slab = slab_of_plane(m, x), slabs = a->slabs.end - a->slabs.first;
  return VECTOR(const float, buffers[SLABS + field * slabs + slab - a->slabs.first]) +
         (x - slab_first(m, slab)) * plane_floats(m);
}

/** The part of a group's field box that a piece has. */
static struct field_box box_of_part(const struct pm_cut_argument *a, uint32_t part) {
  const struct mesh_piece *p = piece_of_part(a->l, a->message, part);
  struct field_box box = cells_of_part(a->l, a->message, part)->field_box;
  box.origin[0] = p->first_y;
  box.size[0] = p->ys;
  return box;
}

static void cut_piece(const struct pm_cut_argument *a, void *buffers[], uint32_t part) {
  const struct mesh *m = a->l->mesh;
  const struct field_box box = box_of_part(a, part);
  const struct mesh_piece *p = piece_of_part(a->l, a->message, part);
  float *out = VECTOR(float, buffers[MESSAGE]) + p->at;
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < p->planes; i++, out += field_box_floats(&box))
      mesh_cut_plane(m, &box, plane_of(a, buffers, field, (p->first + i) % m->cells), out);
}

static void pm_cut_cpu(void *buffers[], const struct pm_cut_argument *a) {
  for (uint32_t part = 0; part < a->message->parts; part++) cut_piece(a, buffers, part);
}

static void cut_piece_on_gpu(const struct pm_cut_argument *a, void *buffers[], uint32_t part) {
  const struct mesh *m = a->l->mesh;
  const struct mesh_piece *p = piece_of_part(a->l, a->message, part);
  const struct field_box box = box_of_part(a, part);
  const uint32_t planes = m->fields * p->planes;
  const float **plane = allocate(planes, sizeof *plane, "mesh plane table");
  for (uint32_t i = 0; i < planes; i++)
    plane[i] = plane_of(a, buffers, i / p->planes, (p->first + i % p->planes) % m->cells);
  gpu_cut(a->l->gpu[worker_number()], &box, planes, plane, VECTOR(float, buffers[MESSAGE]) + p->at);
  free(plane);
}

static void pm_cut_gpu(struct gpu *gpu, void *buffers[], const struct pm_cut_argument *a) {
  (void)gpu;
  for (uint32_t part = 0; part < a->message->parts; part++) cut_piece_on_gpu(a, buffers, part);
}

STAGE(pm_cut, 0x77aadd, "pm");

void pm_cut_submit(struct long_range *l, uint32_t k, uint32_t set) {
  const struct mesh_message *message = &l->field_messages.message[k];
  const struct mesh_range slabs = slabs_of_message(l, message);
  const size_t count = SLABS + (size_t)l->mesh->fields * (slabs.end - slabs.first);
  struct starpu_data_descr *data = allocate(count, sizeof *data, "task data");
  size_t n = SLABS;
  data[MESSAGE] = (struct starpu_data_descr){message->handle[set_place(l, set)], STARPU_W};
  for (uint32_t field = 0; field < l->mesh->fields; field++)
    for (uint32_t slab = slabs.first; slab < slabs.end; slab++)
      data[n++] = (struct starpu_data_descr){l->slab_handle[slab_row(l, set, field, slab)],
                                             STARPU_R};
  pm_cut_insert((struct pm_cut_argument){l, message, slabs},
                (struct task){.data = data, .count = n, .priority = PRIORITY_HIGH});
  free(data);
}

void pieces_transfer(struct long_range *l, uint32_t set) {
  for (uint32_t k = 0; k < l->field_messages.count; k++) {
    const struct mesh_message *message = &l->field_messages.message[k];
    message_transfer(message->handle[set_place(l, set)], MESSAGE_PIECE + set, message->number,
                     message->from, message->to, PRIORITY_HIGH);
  }
}
