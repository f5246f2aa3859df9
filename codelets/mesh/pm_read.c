/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_read: interpolates long-range accelerations from the fields. With block time steps they have a
 * column of their own, because they change only once in a base step.
 *
 * reads  positions; the slabs that the group overlaps, and, if some of these are on other ranks,
 *        the messages with cells that pm_cut copied from them
 * adds to accelerations, or writes mesh_accelerations */
#include <stdlib.h>
#include <string.h>

#include "codelets/mesh/field_cells.h"
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
/* FIELDS: the slabs [field][slab], beginning with the first one that the group overlaps; or messages, and then of
 * each slab of this rank that the group overlaps all fields. */

static double pm_read_work(const struct pm_read_argument *a) { return a->g->count; }

/** Whether a group's cells are put together. Of pencils they always are, since groups read whole planes. */
static bool is_put_together(const struct mesh *m, const struct group_cells *c) {
  return c->read_ranks > 0 || m->parts > 1;
}

/** Whether this rank's part of a slab has some of a group's cells. */
static bool has_cells(const struct mesh *m, uint32_t slab, const struct group_cells *c) {
  const struct cell_layout part = layout_of_slab(m, slab), box = layout_of_box(m, &c->field_box);
  return cells_meet(m->cells, &part, &box);
}

/* The slabs of this rank that have some of a group's cells. */
#define FOR_SLABS_OF(l, c, slab)                                                \
  for (uint32_t slab = (l)->own_slabs.first; slab < (l)->own_slabs.end; slab++) \
    if (has_cells((l)->mesh, slab, c))

static size_t box_floats(const struct mesh *m, const struct group_cells *c) {
  return (size_t)m->fields * c->field_box.planes * field_box_floats(&c->field_box);
}

/** Add copies of what a message has of a group's cells.
 * @param floats  of a field in the group's box */
static void copy_message(const struct mesh *m, const struct mesh_message *message,
                         const float *data, const struct cell_layout *to, float *box, size_t floats,
                         struct cell_copies *list) {
  const struct field_part *end;
  uint32_t node = 0;
  for (const struct field_part *p; (p = parts_near(message, m->cells, to, &node, &end));)
    for (; p < end; p++) {
      const struct cell_layout from = layout_of_part(p);
      for (uint32_t field = 0; field < m->fields; field++)
        copies_add(list, m->cells, &from, data + field_at(p, field), to, box + field * floats);
    }
}

/** How a group's cells are put together from messages and this rank's slabs.
 * @param box  memory for the group's field box, [field][plane][y][row]
 * @return copies_free() it */
static struct cell_copies list_copies(const struct pm_read_argument *a, void *buffers[],
                                      float *box) {
  const struct mesh *m = a->l->mesh;
  const struct cell_layout to = layout_of_box(m, &a->c->field_box);
  const size_t floats = a->c->field_box.planes * to.plane;
  struct cell_copies list = {0};
  uint32_t slot = FIELDS;
  FOR_MESSAGES_READ(a->l, a->c, message)
  copy_message(m, message, VECTOR(const float, buffers[slot++]), &to, box, floats, &list);
  FOR_SLABS_OF(a->l, a->c, slab) {
    const struct cell_layout from = layout_of_slab(m, slab);
    for (uint32_t field = 0; field < m->fields; field++)
      copies_add(&list, m->cells, &from, VECTOR(const float, buffers[slot++]), &to,
                 box + field * floats);
  }
  return list;
}

/** A group's cells that have been put together. @param[out] plane  [field * N + x] */
static struct field_view view_of_box(const struct mesh *m, const struct group_cells *c,
                                     const float *box, const float **plane) {
  const struct field_box *b = &c->field_box;
  const uint32_t *first = c->patch.origin, *size = c->patch.size;
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < b->planes; i++, box += field_box_floats(b))
      plane[(size_t)field * m->cells + (b->first + i) % m->cells] = box;
  return (struct field_view){.plane = plane,
                             .origin = {b->origin[0], b->origin[1]},
                             .row = b->row,
                             .first = {first[0], first[1], first[2]},
                             .size = {size[0], size[1], size[2]}};
}

/** Find the planes in slabs: fills plane[field * N + x]. */
static struct field_view view_of_slabs(void *buffers[], const struct mesh *m,
                                       const struct group_cells *c, const float **plane) {
  const uint32_t cells = m->cells, *first_cell = c->patch.origin;
  const struct field_box box = field_box_for_patch(m, &c->patch);
  const uint32_t first = slab_of_plane(m, box.first), n = slabs_of_planes(m, box.first, box.planes);
  for (uint32_t field = 0, i = FIELDS; field < m->fields; field++)
    for (uint32_t k = 0; k < n; k++, i++) {
      const uint32_t slab = (first + k) % m->slabs, begin = slab_first(m, slab);
      const float *data = VECTOR(const float, buffers[i]);
      for (uint32_t x = begin; x < slab_first(m, slab + 1); x++)
        plane[(size_t)field * cells + x] = data + (x - begin) * plane_floats(m);
    }
  return (struct field_view){.plane = plane,
                             .row = m->row,
                             .first = {first_cell[0], first_cell[1], first_cell[2]},
                             .size = {c->patch.size[0], cells, cells}};
}

/** Put a group's cells together on cores. */
static void put_together(const struct pm_read_argument *a, void *buffers[], float *box) {
  struct cell_copies list = list_copies(a, buffers, box);
  copies_run(&list);
  copies_free(&list);
}

static void pm_read_cpu(void *buffers[], const struct pm_read_argument *a) {
  const struct mesh *m = a->l->mesh;
  const float **plane = allocate((size_t)m->fields * m->cells, sizeof *plane, "mesh plane table");
  float *box = NULL;
  if (is_put_together(m, a->c)) {
    box = allocate(box_floats(m, a->c), sizeof *box, "field box");
    put_together(a, buffers, box);
  }
  const struct field_view view = box ? view_of_box(m, a->c, box, plane)
                                     : view_of_slabs(buffers, m, a->c, plane);
  float *acceleration = VECTOR(float, buffers[ACCELERATION]);
  if (a->clear) memset(acceleration, 0, 3 * (size_t)a->g->count * sizeof *acceleration);
  a->l->kernels->read(m, a->g->count, VECTOR(const uint32_t, buffers[POSITION]), a->set == 1,
                      a->l->factor / (float)a->l->sets, &view, acceleration);
  free(box);
  free(plane);
}

/** @return the group's field box, in scratch memory */
static float *put_together_on_gpu(const struct pm_read_argument *a, void *buffers[]) {
  struct gpu_mesh *g = a->l->gpu[worker_number()];
  float *box = gpu_field_box(g, box_floats(a->l->mesh, a->c));
  struct cell_copies list = list_copies(a, buffers, box);
  gpu_copy_cells(g, &list);
  copies_free(&list);
  return box;
}

static void pm_read_gpu(struct gpu *gpu, void *buffers[], const struct pm_read_argument *a) {
  const struct mesh *m = a->l->mesh;
  const float **plane = allocate((size_t)m->fields * m->cells, sizeof *plane, "mesh plane table");
  const bool whole = !is_put_together(m, a->c);
  const struct field_view view = whole
                                     ? view_of_slabs(buffers, m, a->c, plane)
                                     : view_of_box(m, a->c, put_together_on_gpu(a, buffers), plane);
  float *acceleration = VECTOR(float, buffers[ACCELERATION]);
  if (a->clear) gpu_clear(gpu, acceleration, 3 * (size_t)a->g->count * sizeof *acceleration);
  gpu_read(a->l->gpu[worker_number()], a->g->count, VECTOR(const uint32_t, buffers[POSITION]),
           a->set == 1, a->l->factor / (float)a->l->sets, &view, whole, acceleration);
  free(plane);
}

STAGE(pm_read, 0xee8866, "pm");

/** Where a group reads the fields. @param[out] data  @return how many */
static size_t list_fields(const struct long_range *l, const struct group_cells *c, uint32_t set,
                          struct starpu_data_descr *data) {
  const struct mesh *m = l->mesh;
  const struct field_box box = field_box_for_patch(m, &c->patch);
  const uint32_t first = slab_of_plane(m, box.first),
                 slabs = slabs_of_planes(m, box.first, box.planes);
  size_t n = 0;
  if (!is_put_together(m, c)) {
    for (uint32_t field = 0; field < m->fields; field++)
      for (uint32_t k = 0; k < slabs; k++)
        data[n++] = (struct starpu_data_descr){
            l->slab_handle[slab_row(l, set, field, (first + k) % m->slabs)], STARPU_R};
    return n;
  }
  FOR_MESSAGES_READ(l, c, message)
  data[n++] = (struct starpu_data_descr){message->handle[set_place(l, set)], STARPU_R};
  FOR_SLABS_OF(l, c, slab)
  for (uint32_t field = 0; field < m->fields; field++)
    data[n++] = (struct starpu_data_descr){l->slab_handle[slab_row(l, set, field, slab)], STARPU_R};
  return n;
}

void pm_read_submit(struct long_range *l, struct group *g, uint32_t set) {
  const struct mesh *m = l->mesh;
  const struct group_cells *c = cells_of(l, g);
  const size_t most = FIELDS + l->field_messages.count +
                      (size_t)m->fields * (l->own_slabs.end - l->own_slabs.first);
  struct starpu_data_descr *data = allocate(most, sizeof *data, "task data");
  const bool own = particles_have(&l->domain->particles, COLUMN_mesh_acceleration),
             clear = (own || !m->split) && set == 0;
  data[ACCELERATION] = (struct starpu_data_descr){
      g->column[own ? COLUMN_mesh_acceleration : COLUMN_acceleration],
      clear ? STARPU_W : STARPU_RW};
  data[POSITION] = (struct starpu_data_descr){g->column[COLUMN_position], STARPU_R};
  const size_t n = FIELDS + list_fields(l, c, set, data + FIELDS);
  pm_read_insert(
      (struct pm_read_argument){l, g, c, set, clear},
      (struct task){.data = data,
                    .count = n,
                    .priority = l->in_turn ? PRIORITY_MIDDLE : PRIORITY_LOW, /* set 1 waits */
                    .owner = &g->index});
  free(data);
}
