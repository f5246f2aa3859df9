/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_add: sums the density of one slab from the patches that overlap it, in the order of the
 * groups, so that the sum is the same whichever worker computes it.
 *
 * reads  patches, and pieces of patches of other ranks' groups
 * writes the slab */
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"

struct patch_add_argument {
  const struct long_range *l;
  uint32_t set, slab;
};
enum { SLAB, PATCHES };

static double patch_add_work(const struct patch_add_argument *a) {
  return (double)block_size(a->l->mesh, a->slab, 0);
}

/** Whether a patch overlaps the slab; its planes are origin .. origin + size - 1, modulo N. */
static bool patch_meets_slab(const struct mesh *m, const struct patch *p, uint32_t slab) {
  const uint32_t begin = slab_first(m, slab), end = slab_first(m, slab + 1);
  /* number of planes from the patch's first plane to the slab's first plane */
  const uint32_t to_slab = (begin + m->cells - p->origin[0]) % m->cells;
  return to_slab < p->size[0] || m->cells - to_slab < end - begin;
}

/** A patch or a piece of a patch, and the handle of its cells. */
struct part {
  struct patch patch;
  starpu_data_handle_t handle;
};

/** All patches and pieces of patches on this rank that overlap the slab, in the order of the
 * groups, which is that of the task's slots. @return free() it */
static struct part *list_parts(const struct long_range *l, uint32_t set, uint32_t slab,
                               uint32_t *count) {
  struct part *list = NULL;
  uint32_t n = 0, room = 0;
  FOR_CELLS(l, c) {
    if (n + 1 + c->sent.count > room) {
      room = 2 * room + 1 + c->sent.count;
      list = reallocate(list, room, sizeof *list, "patches of a slab");
    }
    if (l->domain->groups[c->group].owner == comm_rank() &&
        patch_meets_slab(l->mesh, &c->patch, slab))
      list[n++] = (struct part){c->patch, c->patch_handle[set_place(l, set)]};
    for (uint32_t k = 0; k < c->sent.count; k++) {
      const struct patch piece = patch_of_piece(&c->patch, &c->sent.piece[k]);
      if (c->sent.piece[k].rank == comm_rank() && patch_meets_slab(l->mesh, &piece, slab))
        list[n++] = (struct part){piece, c->sent.piece[k].handle[set_place(l, set)]};
    }
  }
  *count = n;
  return list;
}

static double sum_slab(const struct mesh *m, uint32_t planes, const float *slab) {
  double sum = 0.0;
  for (size_t plane = 0; plane < planes; plane++)
    for (size_t y = 0; y < m->cells; y++)
      for (size_t z = 0; z < m->cells; z++)
        sum += (double)slab[plane * plane_floats(m) + y * m->row + z];
  return sum;
}

static void patch_add_cpu(void *buffers[], const struct patch_add_argument *a) {
  const struct mesh *m = a->l->mesh;
  float *slab = VECTOR(float, buffers[SLAB]);
  const uint32_t planes = slab_first(m, a->slab + 1) - slab_first(m, a->slab);
  memset(slab, 0, planes * plane_floats(m) * sizeof *slab);
  uint32_t n;
  struct part *part = list_parts(a->l, a->set, a->slab, &n);
  for (uint32_t i = 0; i < n; i++)
    a->l->kernels->patch_add(m, a->slab, &part[i].patch, VECTOR(const float, buffers[PATCHES + i]),
                             slab);
  if (DEBUG_CHECKS) a->l->slab_sum[a->set * m->slabs + a->slab] = sum_slab(m, planes, slab);
  free(part);
}

static void patch_add_gpu(struct gpu *gpu, void *buffers[], const struct patch_add_argument *a) {
  (void)gpu;
  uint32_t n;
  struct part *part = list_parts(a->l, a->set, a->slab, &n);
  const struct patch **patch = allocate(n, sizeof *patch, "patch table");
  const float **data = allocate(n, sizeof *data, "patch table");
  for (uint32_t i = 0; i < n; i++) {
    patch[i] = &part[i].patch;
    data[i] = VECTOR(const float, buffers[PATCHES + i]);
  }
  gpu_patch_add(a->l->gpu[worker_number()], a->slab, n, patch, data, VECTOR(float, buffers[SLAB]));
  free(patch);
  free(data);
  free(part);
}

STAGE(patch_add, 0x882255, "pm");

void patch_add_submit(struct long_range *l, uint32_t set, uint32_t slab) {
  uint32_t n;
  struct part *part = list_parts(l, set, slab, &n);
  struct starpu_data_descr *data = allocate(PATCHES + (size_t)n, sizeof *data, "task data");
  data[SLAB] = (struct starpu_data_descr){l->slab_handle[slab_row(l, set, 0, slab)], STARPU_W};
  for (uint32_t i = 0; i < n; i++)
    data[PATCHES + i] = (struct starpu_data_descr){part[i].handle, STARPU_R};
  patch_add_insert(
      (struct patch_add_argument){l, set, slab},
      (struct task){.data = data, .count = PATCHES + (size_t)n, .priority = PRIORITY_HIGH});
  free(part);
  free(data);
}
