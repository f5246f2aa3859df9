/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_read: interpolates long-range accelerations from the fields. With block time steps they have a
 * column of their own, because they change only once in a base step.
 *
 * reads  positions; the slabs that the group overlaps, or, if some of these are on other ranks,
 *        the pieces that pm_cut copied from them
 * adds to accelerations, or writes mesh_accelerations */
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"

struct pm_read_argument {
  const struct long_range *l;
  const struct group *g;
  const struct group_cells *c;
  uint32_t set;
  bool clear; /* the first set, where nothing else has written the accelerations */
};
enum { ACCELERATION, POSITION, FIELDS };
/* FIELDS: the messages with the pieces; or the slabs [field][slab], beginning with the first one that the group
 * overlaps. */

static double pm_read_work(const struct pm_read_argument *a) { return a->g->count; }

/** Whether no piece before is in the same message. Where a group reads cells all around the box, its first and last
 * planes or rows can be of one rank. */
static bool begins_message(const struct mesh_pieces *read, uint32_t k) {
  for (uint32_t i = 0; i < k; i++)
    if (read->piece[i].message == read->piece[k].message) return false;
  return true;
}

/** The slot of a piece, from FIELDS on: the number of messages before its own. */
static uint32_t slot_of_piece(const struct mesh_pieces *read, uint32_t k) {
  uint32_t slot = 0;
  for (uint32_t i = 0; read->piece[i].message != read->piece[k].message; i++)
    slot += begins_message(read, i);
  return slot;
}

static const float *data_of_piece(void *buffers[], const struct mesh_pieces *read, uint32_t k) {
  return VECTOR(const float, buffers[FIELDS + slot_of_piece(read, k)]) + read->piece[k].at;
}

static struct field_view view_of_box(const struct group_cells *c, const float **plane) {
  const struct field_box *box = &c->field_box;
  const uint32_t *first = c->patch.origin;
  return (struct field_view){.plane = plane,
                             .origin = {box->origin[0], box->origin[1]},
                             .row = box->row,
                             .first = {first[0], first[1], first[2]}};
}

/** Put the group's cells together from pieces of pencils, which have some rows of some planes.
 * @param box        memory for the group's field box, [field][plane][y][row]
 * @param gpu        that has this memory; NULL: cores
 * @param[out] plane  [field * N + x] */
static struct field_view put_together(struct gpu *gpu, void *buffers[], const struct mesh *m,
                                      const struct group_cells *c, float *box,
                                      const float **plane) {
  (void)gpu; /* of a build without CUDA */
  const uint32_t n = m->cells;
  const struct field_box *b = &c->field_box;
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < b->planes; i++)
      plane[(size_t)field * n + (b->first + i) % n] = box + ((size_t)field * b->planes + i) *
                                                                field_box_floats(b);
  for (uint32_t k = 0; k < c->read.count; k++) {
    const struct mesh_piece *p = &c->read.piece[k];
    const float *data = data_of_piece(buffers, &c->read, k);
    const size_t floats = (size_t)p->ys * b->row,
                 first_row = (p->first_y + n - b->origin[0]) % n * (size_t)b->row;
    for (uint32_t i = 0; i < m->fields * p->planes; i++, data += floats) {
      const uint32_t field = i / p->planes, at = (p->first + i % p->planes + n - b->first) % n;
      float *to = box + ((size_t)field * b->planes + at) * field_box_floats(b) + first_row;
      if (gpu)
        GPU_CALL(gpu_copy(gpu, to, data, floats * sizeof *to));
      else
        memcpy(to, data, floats * sizeof *to);
    }
  }
  return view_of_box(c, plane);
}

static size_t box_floats(const struct mesh *m, const struct group_cells *c) {
  return (size_t)m->fields * c->field_box.planes * field_box_floats(&c->field_box);
}

/** Find the planes: fills plane[field * N + x]. */
static struct field_view unwrap(void *buffers[], const struct mesh *m, const struct group_cells *c,
                                const float **plane) {
  const uint32_t cells = m->cells, *first_cell = c->patch.origin;
  if (c->read.count > 0) {
    const size_t step = field_box_floats(&c->field_box);
    for (uint32_t k = 0; k < c->read.count; k++) {
      const struct mesh_piece *piece = &c->read.piece[k];
      const float *data = data_of_piece(buffers, &c->read, k);
      for (uint32_t field = 0; field < m->fields; field++)
        for (uint32_t i = 0; i < piece->planes; i++, data += step)
          plane[(size_t)field * cells + (piece->first + i) % cells] = data;
    }
    return view_of_box(c, plane);
  }
  const struct field_box box = field_box_for_patch(m, &c->patch);
  const uint32_t first = slab_of_plane(m, box.first), n = slabs_of_planes(m, box.first, box.planes);
  for (uint32_t field = 0, i = FIELDS; field < m->fields; field++)
    for (uint32_t k = 0; k < n; k++, i++) {
      const uint32_t slab = (first + k) % m->slabs, begin = slab_first(m, slab);
      const float *data = VECTOR(const float, buffers[i]);
      for (uint32_t x = begin; x < slab_first(m, slab + 1); x++)
        plane[(size_t)field * cells + x] = data + (x - begin) * plane_floats(m);
    }
  return (struct field_view){
      .plane = plane, .row = m->row, .first = {first_cell[0], first_cell[1], first_cell[2]}};
}

static void pm_read_cpu(void *buffers[], const struct pm_read_argument *a) {
  const struct mesh *m = a->l->mesh;
  const float **plane = allocate((size_t)m->fields * m->cells, sizeof *plane, "mesh plane table");
  float *box = m->parts > 1 ? allocate(box_floats(m, a->c), sizeof *box, "field box") : NULL;
  const struct field_view view = box ? put_together(NULL, buffers, m, a->c, box, plane)
                                     : unwrap(buffers, m, a->c, plane);
  float *acceleration = VECTOR(float, buffers[ACCELERATION]);
  if (a->clear) memset(acceleration, 0, 3 * (size_t)a->g->count * sizeof *acceleration);
  a->l->kernels->read(m, a->g->count, VECTOR(const uint32_t, buffers[POSITION]), a->set == 1,
                      a->l->factor / (float)a->l->sets, &view, acceleration);
  free(box);
  free(plane);
}

static void pm_read_gpu(struct gpu *gpu, void *buffers[], const struct pm_read_argument *a) {
  const struct mesh *m = a->l->mesh;
  const float **plane = allocate((size_t)m->fields * m->cells, sizeof *plane, "mesh plane table");
  struct gpu_mesh *g = a->l->gpu[worker_number()];
  const struct field_view view = m->parts > 1
                                     ? put_together(gpu, buffers, m, a->c,
                                                    gpu_field_box(g, box_floats(m, a->c)), plane)
                                     : unwrap(buffers, m, a->c, plane);
  float *acceleration = VECTOR(float, buffers[ACCELERATION]);
  if (a->clear) gpu_clear(gpu, acceleration, 3 * (size_t)a->g->count * sizeof *acceleration);
  gpu_read(g, a->g->count, VECTOR(const uint32_t, buffers[POSITION]), a->set == 1,
           a->l->factor / (float)a->l->sets, &view, a->c->read.count == 0, acceleration);
  free(plane);
}

STAGE(pm_read, 0xee8866, "pm");

void pm_read_submit(struct long_range *l, struct group *g, uint32_t set) {
  const struct mesh *m = l->mesh;
  const struct group_cells *c = cells_of(l, g);
  const struct field_box box = field_box_for_patch(m, &c->patch);
  const uint32_t first = slab_of_plane(m, box.first),
                 slabs = slabs_of_planes(m, box.first, box.planes);
  struct starpu_data_descr *data = allocate(FIELDS + c->read.count + (size_t)m->fields * slabs,
                                            sizeof *data, "task data");
  size_t n = FIELDS;
  const bool own = particles_have(&l->domain->particles, COLUMN_mesh_acceleration),
             clear = (own || !m->split) && set == 0;
  data[ACCELERATION] = (struct starpu_data_descr){
      g->column[own ? COLUMN_mesh_acceleration : COLUMN_acceleration],
      clear ? STARPU_W : STARPU_RW};
  data[POSITION] = (struct starpu_data_descr){g->column[COLUMN_position], STARPU_R};
  for (uint32_t k = 0; k < c->read.count; k++)
    if (begins_message(&c->read, k))
      data[n++] = (struct starpu_data_descr){
          l->field_messages.message[c->read.piece[k].message].handle[set_place(l, set)], STARPU_R};
  for (uint32_t field = 0; field < m->fields && c->read.count == 0; field++)
    for (uint32_t k = 0; k < slabs; k++)
      data[n++] = (struct starpu_data_descr){
          l->slab_handle[slab_row(l, set, field, (first + k) % m->slabs)], STARPU_R};
  pm_read_insert(
      (struct pm_read_argument){l, g, c, set, clear},
      (struct task){.data = data,
                    .count = n,
                    .priority = l->in_turn ? PRIORITY_MIDDLE : PRIORITY_LOW, /* set 1 waits */
                    .owner = &g->index});
  free(data);
}
