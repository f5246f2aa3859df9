/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_add: the density of one slab, summed from the patches that reach into it in the order of the groups, so that
 * the sum is the same whoever computes it. Reads patches; writes the slab. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

/** Do planes [first, first + size) modulo N meet the slab? */
static bool patch_meets_slab(const struct mesh *m, const struct patch *p, uint32_t slab) {
  uint32_t begin = slab_first(m, slab), end = slab_first(m, slab + 1);
  uint32_t to_slab = (begin + m->cells - p->origin[0]) %
                     m->cells; /* planes from the patch's first up to the slab's first */
  return to_slab < p->size[0] || m->cells - to_slab < end - begin;
}

/** Function(context, patch, handle of its cells) for all patches and pieces of patches here that meet the slab, in the order of the groups. */
static void for_patches(const struct simulation *s, uint32_t set, uint32_t slab,
                        void (*function)(void *context, const struct patch *p, starpu_data_handle_t handle),
                        void *context) {
  for (const struct group *g = s->groups; g < s->groups + s->group_count; g++) {
    if (g->owner == comm_rank() && patch_meets_slab(s->mesh, &g->patch, slab))
      function(context, &g->patch, g->patch_handle[set]);
    for (uint32_t k = 0; k < g->sent.count; k++) {
      const struct patch part = patch_of_piece(&g->patch, &g->sent.piece[k]);
      if (g->sent.piece[k].process == comm_rank() && patch_meets_slab(s->mesh, &part, slab))
        function(context, &part, g->sent.piece[k].handle[set]);
    }
  }
}

/** Patches in the order of a task's buffers, from the second on. */
struct patch_list {
  struct patch *patch;
  uint32_t n;
};

static void list_patch(void *context, const struct patch *p, starpu_data_handle_t handle) {
  (void)handle;
  struct patch_list *list = context;
  list->patch[list->n++] = *p;
}

static struct patch_list list_patches(const struct task_argument *a) {
  const struct simulation *s = a->simulation;
  struct patch_list list = {.patch = allocate(2 * (size_t)s->group_count, sizeof *list.patch, "patch table")};
  for_patches(s, a->set, a->slab, list_patch, &list);
  return list;
}

static void patch_add_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  float *slab = VECTOR(float, buffers[0]);
  uint32_t planes = slab_first(s->mesh, a->slab + 1) - slab_first(s->mesh, a->slab);
  memset(slab, 0, planes * plane_floats(s->mesh) * sizeof *slab);
  const struct patch_list list = list_patches(a);
  for (uint32_t i = 0; i < list.n; i++)
    s->kernels->mesh.patch_add(s->mesh, a->slab, &list.patch[i], VECTOR(const float, buffers[1 + i]), slab);
  free(list.patch);
}

#ifdef PHOTONS_CUDA
static void patch_add_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct patch_list list = list_patches(a);
  const struct patch **patch = allocate(list.n, sizeof *patch, "patch table");
  const float **data = allocate(list.n, sizeof *data, "patch table");
  for (uint32_t i = 0; i < list.n; i++) {
    patch[i] = &list.patch[i];
    data[i] = VECTOR(const float, buffers[1 + i]);
  }
  gpu_patch_add(task_worker(a)->gpu, a->slab, list.n, patch, data, VECTOR(float, buffers[0]));
  free(patch);
  free(data);
  free(list.patch);
}
#endif

PHOTONS_CODELET(patch_add, 0x882255, block_size(a->simulation->mesh, a->slab, 0));

struct patch_data {
  struct starpu_data_descr *data;
  size_t n;
};

static void add_data(void *context, const struct patch *p, starpu_data_handle_t handle) {
  (void)p;
  struct patch_data *d = context;
  d->data[d->n++] = (struct starpu_data_descr){handle, STARPU_R};
}

void patch_add_submit(struct simulation *s, uint32_t set, uint32_t slab) {
  struct patch_data d = {.data = allocate(2 * (size_t)s->group_count + 1, sizeof *d.data, "task data"), .n = 1};
  d.data[0] = (struct starpu_data_descr){s->slab_handle[slab_index(s, set, 0, slab)], STARPU_W};
  for_patches(s, set, slab, add_data, &d);
  task_submit(&patch_add_codelet, (struct task_argument){.simulation = s, .set = set, .slab = slab}, d.data, d.n,
              PRIORITY_MESH);
  free(d.data);
}
