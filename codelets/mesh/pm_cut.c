/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_cut: what a group reads of the fields, cut out of the slabs of this process, so that no more than that has to travel. Reads the slabs;
 * writes a piece. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

/** Slabs of a piece, from that of its first plane on. */
static uint32_t slabs_of_piece(const struct mesh *m, const struct mesh_piece *piece) {
  const uint32_t first = slab_of_plane(m, piece->first),
                 last = slab_of_plane(m, (piece->first + piece->planes - 1) % m->cells);
  const uint32_t n = last + 1 - first + (piece->first + piece->planes > m->cells ? m->slabs : 0);
  return n < m->slabs ? n : m->slabs; /* all the way round, back into the first slab */
}

/** Plane i of a piece, of one field: in buffers[1 + field * slabs + ...]. */
static const float *plane_of_piece(const struct mesh *m, const struct mesh_piece *piece, uint32_t slabs,
                                   void *buffers[], uint32_t field, uint32_t i) {
  const uint32_t x = (piece->first + i) % m->cells, slab = slab_of_plane(m, x);
  const uint32_t k = (slab + m->slabs - slab_of_plane(m, piece->first)) % m->slabs;
  return VECTOR(const float, buffers[1 + field * slabs + k]) + (x - slab_first(m, slab)) * plane_floats(m);
}

static void pm_cut_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  const struct mesh_piece *piece = &a->group->read.piece[a->column];
  const uint32_t slabs = slabs_of_piece(m, piece);
  float *out = VECTOR(float, buffers[0]);
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < piece->planes; i++, out += field_box_floats(&a->group->field_box))
      mesh_cut_plane(m, &a->group->field_box, plane_of_piece(m, piece, slabs, buffers, field, i), out);
}

#ifdef PHOTONS_CUDA
static void pm_cut_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  const struct mesh_piece *piece = &a->group->read.piece[a->column];
  const uint32_t slabs = slabs_of_piece(m, piece), planes = m->fields * piece->planes;
  const float **plane = allocate(planes, sizeof *plane, "mesh plane table");
  for (uint32_t i = 0; i < planes; i++)
    plane[i] = plane_of_piece(m, piece, slabs, buffers, i / piece->planes, i % piece->planes);
  gpu_cut(task_worker(a)->gpu, &a->group->field_box, planes, plane, VECTOR(float, buffers[0]));
  free(plane);
}
#endif

PHOTONS_CODELET(pm_cut, 0x77aadd, field_box_floats(&a->group->field_box) * a->group->read.piece[a->column].planes);

void pm_cut_submit(struct group *g, uint32_t k, uint32_t set) {
  struct simulation *s = g->simulation;
  const struct mesh *m = s->mesh;
  const struct mesh_piece *piece = &g->read.piece[k];
  const uint32_t first = slab_of_plane(m, piece->first), slabs = slabs_of_piece(m, piece);
  struct starpu_data_descr *data = allocate(1 + (size_t)m->fields * slabs, sizeof *data, "task data");
  size_t n = 0;
  data[n++] = (struct starpu_data_descr){piece->handle[set], STARPU_W};
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t i = 0; i < slabs; i++)
      data[n++] = (struct starpu_data_descr){s->slab_handle[slab_index(s, set, field, (first + i) % m->slabs)],
                                             STARPU_R};
  task_submit(&pm_cut_codelet, (struct task_argument){.simulation = s, .group = g, .column = k, .set = set}, data, n,
              PRIORITY_MESH);
  free(data);
}
