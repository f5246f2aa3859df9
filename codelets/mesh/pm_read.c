/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_read: long-range accelerations interpolated from the fields. Reads X and the slabs that it touches, or, where some of these are on
 * other processes, the pieces cut out of them; adds to A. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

/** First slab that a group reads, and how many from there on (modulo the number of slabs). */
static uint32_t slabs_touched(const struct group *g, uint32_t *first) {
  const struct mesh *m = g->simulation->mesh;
  const struct field_box box = field_box_for_patch(m, &g->patch);
  *first = slab_of_plane(m, box.first);
  const uint32_t last = slab_of_plane(m, (box.first + box.planes - 1) % m->cells),
                 n = last + 1 - *first + (box.first + box.planes > m->cells ? m->slabs : 0);
  return n < m->slabs ? n : m->slabs; /* all the way round, back into the first slab */
}

/** Where the planes are, [field * N + x], from the task's buffers. */
static struct field_view unwrap(const struct group *g, void *buffers[], const float **plane) {
  const struct mesh *m = g->simulation->mesh;
  const uint32_t cells = m->cells;
  if (g->read.count > 0) {
    const size_t step = field_box_floats(&g->field_box);
    for (uint32_t k = 0; k < g->read.count; k++) {
      const struct mesh_piece *piece = &g->read.piece[k];
      const float *data = VECTOR(const float, buffers[2 + k]);
      for (uint32_t field = 0; field < m->fields; field++)
        for (uint32_t i = 0; i < piece->planes; i++, data += step)
          plane[(size_t)field * cells + (piece->first + i) % cells] = data;
    }
    return (struct field_view){
        .plane = plane, .origin = {g->field_box.origin[0], g->field_box.origin[1]}, .row = g->field_box.row};
  }
  uint32_t first, n = slabs_touched(g, &first);
  for (uint32_t field = 0, i = 2; field < m->fields; field++)
    for (uint32_t k = 0; k < n; k++, i++) {
      const uint32_t slab = (first + k) % m->slabs, begin = slab_first(m, slab);
      const float *data = VECTOR(const float, buffers[i]);
      for (uint32_t x = begin; x < slab_first(m, slab + 1); x++)
        plane[(size_t)field * cells + x] = data + (x - begin) * plane_floats(m);
    }
  return whole_planes(m->row, plane);
}

static void pm_read_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  const struct mesh *m = s->mesh;
  const float **plane = allocate((size_t)m->fields * m->cells, sizeof *plane, "mesh plane table");
  const struct field_view view = unwrap(a->group, buffers, plane);
  s->kernels->mesh.read(m, a->group->count, VECTOR(const uint32_t, buffers[1]), a->set == 1, a->factor, &view,
                        VECTOR(float, buffers[0]));
  free(plane);
}

#ifdef PHOTONS_CUDA
static void pm_read_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  const float **plane = allocate((size_t)m->fields * m->cells, sizeof *plane, "mesh plane table");
  const struct field_view view = unwrap(a->group, buffers, plane);
  gpu_read(task_worker(a)->gpu, a->group->count, VECTOR(const uint32_t, buffers[1]), a->set == 1, a->factor, &view,
           a->group->read.count == 0, VECTOR(float, buffers[0]));
  free(plane);
}
#endif

PHOTONS_CODELET(pm_read, 0xee8866, a->group->count);

void pm_read_submit(struct group *g, uint32_t set) {
  struct simulation *s = g->simulation;
  const struct mesh *m = s->mesh;
  uint32_t first, slabs = slabs_touched(g, &first);
  struct starpu_data_descr *data = allocate(2 + g->read.count + (size_t)m->fields * slabs, sizeof *data, "task data");
  size_t n = 0;
  data[n++] = (struct starpu_data_descr){g->acceleration_handle, STARPU_RW};
  data[n++] = (struct starpu_data_descr){g->position_handle, STARPU_R};
  for (uint32_t k = 0; k < g->read.count; k++)
    data[n++] = (struct starpu_data_descr){g->read.piece[k].handle[set], STARPU_R};
  for (uint32_t field = 0; field < m->fields && g->read.count == 0; field++)
    for (uint32_t k = 0; k < slabs; k++)
      data[n++] = (struct starpu_data_descr){s->slab_handle[slab_index(s, set, field, (first + k) % m->slabs)],
                                             STARPU_R};
  task_submit(
      &pm_read_codelet,
      (struct task_argument){.simulation = s, .group = g, .set = set, .factor = s->mesh_factor / (float)s->sets}, data,
      n, PRIORITY_LOCAL);
  free(data);
}
