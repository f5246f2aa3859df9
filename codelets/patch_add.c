/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_add: the density of one slab, summed from the patches that reach into it in the order of the groups, so that
 * the sum is the same whoever computes it. Reads patches; writes the slab. */
#include <string.h>

#include "photons/error.h"
#include "task.h"

/** Do planes [first, first + size) modulo N meet the slab? */
static bool patch_meets_slab(const struct mesh *m, const struct patch *p, uint32_t slab) {
  uint32_t begin = slab_first(m, slab), end = slab_first(m, slab + 1);
  uint32_t to_slab = (begin + m->cells - p->origin[0]) %
                     m->cells; /* planes from the patch's first up to the slab's first */
  return to_slab < p->size[0] || m->cells - to_slab < end - begin;
}

static void patch_add_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  struct task_clock clock = task_begin(a, STAGE_PATCH_ADD);
  float *slab = VECTOR(float, buffers[0]);
  uint32_t planes = slab_first(s->mesh, a->slab + 1) - slab_first(s->mesh, a->slab);
  memset(slab, 0, planes * plane_floats(s->mesh) * sizeof *slab);
  for (uint32_t g = 0, i = 1; g < s->group_count; g++) {
    const struct patch *patch = &s->groups[g].patch;
    if (patch_meets_slab(s->mesh, patch, a->slab))
      s->kernels->mesh.patch_add(s->mesh, a->slab, patch, VECTOR(const float, buffers[i++]), slab);
  }
  task_end(&clock);
}

#ifdef PHOTONS_CUDA
static void patch_add_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  const struct patch **patch = allocate(s->group_count, sizeof *patch, "patch table");
  const float **data = allocate(s->group_count, sizeof *data, "patch table");
  uint32_t n = 0;
  for (uint32_t g = 0; g < s->group_count; g++) {
    if (!patch_meets_slab(s->mesh, &s->groups[g].patch, a->slab)) continue;
    patch[n] = &s->groups[g].patch;
    data[n] = VECTOR(const float, buffers[1 + n]);
    n++;
  }
  gpu_patch_add(task_worker(a)->gpu, a->slab, n, patch, data, VECTOR(float, buffers[0]));
  free(patch);
  free(data);
}
#endif

PHOTONS_CODELET(patch_add, 0x882255, block_size(a->simulation->mesh, a->slab, 0));

void patch_add_submit(struct simulation *s, uint32_t set, uint32_t slab) {
  struct starpu_data_descr *data = allocate(s->group_count + 1, sizeof *data, "task data");
  size_t n = 0;
  data[n++] = (struct starpu_data_descr){s->slab_handle[slab_index(s, set, 0, slab)], STARPU_W};
  for (uint32_t g = 0; g < s->group_count; g++)
    if (patch_meets_slab(s->mesh, &s->groups[g].patch, slab))
      data[n++] = (struct starpu_data_descr){s->groups[g].patch_handle[set], STARPU_R};
  task_submit(&patch_add_codelet, (struct task_argument){.simulation = s, .set = set, .slab = slab}, data, n,
              PRIORITY_MESH);
  free(data);
}
