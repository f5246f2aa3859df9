/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_read: long-range accelerations interpolated from the fields' slabs. Reads X and the slabs it touches; adds to A. */
#include "photons/error.h"
#include "task.h"

/** First slab that a group reads, and how many from there on (modulo the number of slabs). */
static uint32_t slabs_touched(const struct group *g, uint32_t *first) {
  const struct mesh *m = g->simulation->mesh;
  const uint32_t margin = m->gradient == GRADIENT_FD4 ? 2
                                                      : 0; /* differences reach two planes farther than the window */
  uint32_t size = g->patch.size[0] + 2 * margin, origin = (g->patch.origin[0] + m->cells - margin) % m->cells;
  uint32_t begin = 0, end = 0;
  while (slab_first(m, begin + 1) <= origin) begin++;
  *first = begin;
  if (size >= m->cells) return m->slabs;
  uint32_t last = (origin + size - 1) % m->cells;
  while (slab_first(m, end + 1) <= last) end++;
  if (end == begin && last < origin) return m->slabs; /* all the way round, back into the first slab */
  return (end + m->slabs - begin) % m->slabs + 1;
}

static void pm_read_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  const struct mesh *m = s->mesh;
  struct task_clock clock = task_begin(a, STAGE_PM_READ);
  uint32_t first, n = slabs_touched(a->group, &first);
  const float **planes = allocate((size_t)m->fields * m->cells, sizeof *planes, "mesh plane table");
  for (uint32_t field = 0, i = 2; field < m->fields; field++)
    for (uint32_t k = 0; k < n; k++, i++) {
      uint32_t slab = (first + k) % m->slabs, begin = slab_first(m, slab);
      const float *data = VECTOR(const float, buffers[i]);
      for (uint32_t x = begin; x < slab_first(m, slab + 1); x++)
        planes[(size_t)field * m->cells + x] = data + (x - begin) * plane_floats(m);
    }
  s->kernels->mesh.read(m, a->group->count, VECTOR(const uint32_t, buffers[1]), a->set == 1, a->factor, planes,
                        VECTOR(float, buffers[0]));
  free(planes);
  task_end(&clock);
}

#ifdef PHOTONS_CUDA
static void pm_read_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  uint32_t first, n = slabs_touched(a->group, &first);
  const float **slabs = allocate((size_t)m->fields * m->slabs, sizeof *slabs, "mesh slab table");
  for (uint32_t field = 0, i = 2; field < m->fields; field++)
    for (uint32_t k = 0; k < n; k++, i++)
      slabs[field * m->slabs + (first + k) % m->slabs] = VECTOR(const float, buffers[i]);
  gpu_read(task_worker(a)->gpu, a->group->count, VECTOR(const uint32_t, buffers[1]), a->set == 1, a->factor, slabs,
           VECTOR(float, buffers[0]));
  free(slabs);
}
#endif

PHOTONS_CODELET(pm_read, 0xee8866, a->group->count);

void pm_read_submit(struct group *g, uint32_t set) {
  struct simulation *s = g->simulation;
  const struct mesh *m = s->mesh;
  uint32_t first, slabs = slabs_touched(g, &first);
  struct starpu_data_descr *data = allocate(2 + (size_t)m->fields * slabs, sizeof *data, "task data");
  size_t n = 0;
  data[n++] = (struct starpu_data_descr){g->acceleration_handle, STARPU_RW};
  data[n++] = (struct starpu_data_descr){g->position_handle, STARPU_R};
  for (uint32_t field = 0; field < m->fields; field++)
    for (uint32_t k = 0; k < slabs; k++)
      data[n++] = (struct starpu_data_descr){s->slab_handle[slab_index(s, set, field, (first + k) % m->slabs)],
                                             STARPU_R};
  task_submit(
      &pm_read_codelet,
      (struct task_argument){.simulation = s, .group = g, .set = set, .factor = s->mesh_factor / (float)s->sets}, data,
      n, PRIORITY_LOCAL);
  free(data);
}
