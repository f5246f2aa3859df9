/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_add: sums the density of one slab from the patches that overlap it, in the order of the
 * groups, so that the sum is the same whichever worker computes it.
 *
 * reads  patches, and messages with pieces of patches of other ranks' groups
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

/** Whether a patch's cells origin .. origin + size - 1, modulo N, along an axis overlap first .. end - 1. */
static bool patch_meets(const struct mesh *m, const struct patch *p, int axis, uint32_t first,
                        uint32_t end) {
  /* number of cells from the patch's first one to the other first one */
  const uint32_t distance = (first + m->cells - p->origin[axis]) % m->cells;
  return distance < p->size[axis] || m->cells - distance < end - first;
}

/** Whether a patch overlaps this rank's part of the slab. */
static bool patch_meets_slab(const struct mesh *m, const struct patch *p, uint32_t slab) {
  return patch_meets(m, p, 0, slab_first(m, slab), slab_first(m, slab + 1)) &&
         patch_meets(m, p, 1, m->first_y, m->first_y + m->ys);
}

/** A patch or a piece of a patch, and where its cells are. */
struct part {
  struct patch patch;
  starpu_data_handle_t handle;
  size_t at;     /* first cell there */
  uint32_t slot; /* of the task; pieces of one message have one */
};

/** Parts in the order of the groups. */
struct parts {
  struct part *part;
  uint32_t count, room, slots;
};

static void add_part(struct parts *list, struct part part) {
  if (list->count == list->room) {
    list->room = 2 * list->room + 16;
    list->part = reallocate(list->part, list->room, sizeof *list->part, "patches of a slab");
  }
  list->part[list->count++] = part;
}

/** @param[in,out] slot_of  [message] its slot + 1; 0: it has none yet */
static void add_pieces(const struct long_range *l, uint32_t set, uint32_t slab,
                       const struct group_cells *c, uint32_t *slot_of, struct parts *list) {
  for (uint32_t k = 0; k < c->sent.count; k++) {
    const struct mesh_piece *piece = &c->sent.piece[k];
    const struct patch patch = patch_of_piece(&c->patch, piece);
    if (piece->rank != comm_rank() || !patch_meets_slab(l->mesh, &patch, slab)) continue;
    uint32_t *slot = &slot_of[piece->message];
    if (*slot == 0) *slot = ++list->slots;
    add_part(list, (struct part){
                       patch, l->patch_messages.message[piece->message].handle[set_place(l, set)],
                       piece->at, *slot - 1});
  }
}

/** All patches and pieces of patches on this rank that overlap the slab. @return free() its parts */
static struct parts list_parts(const struct long_range *l, uint32_t set, uint32_t slab) {
  struct parts list = {0};
  uint32_t *slot_of = allocate(l->patch_messages.count, sizeof *slot_of, "patches of a slab");
  FOR_CELLS(l, c) {
    if (c->owner == comm_rank() && patch_meets_slab(l->mesh, &c->patch, slab))
      add_part(&list, (struct part){c->patch, c->patch_handle[set_place(l, set)], 0, list.slots++});
    add_pieces(l, set, slab, c, slot_of, &list);
  }
  free(slot_of);
  return list;
}

/** The cells of a part. */
static const float *cells_of_part(const struct part *part, void *buffers[]) {
  return VECTOR(const float, buffers[PATCHES + part->slot]) + part->at;
}

static double sum_slab(const struct mesh *m, uint32_t planes, const float *slab) {
  double sum = 0.0;
  for (size_t plane = 0; plane < planes; plane++)
    for (size_t y = 0; y < m->ys; y++)
      for (size_t z = 0; z < m->cells; z++)
        sum += (double)slab[plane * plane_floats(m) + y * m->row + z];
  return sum;
}

static void patch_add_cpu(void *buffers[], const struct patch_add_argument *a) {
  const struct mesh *m = a->l->mesh;
  float *slab = VECTOR(float, buffers[SLAB]);
  const uint32_t planes = slab_first(m, a->slab + 1) - slab_first(m, a->slab);
  memset(slab, 0, planes * plane_floats(m) * sizeof *slab);
  const struct parts list = list_parts(a->l, a->set, a->slab);
  for (uint32_t i = 0; i < list.count; i++)
    a->l->kernels->patch_add(m, a->slab, &list.part[i].patch, cells_of_part(&list.part[i], buffers),
                             slab);
  if (DEBUG_CHECKS) a->l->slab_sum[a->set * m->slabs + a->slab] = sum_slab(m, planes, slab);
  free(list.part);
}

static void patch_add_gpu(struct gpu *gpu, void *buffers[], const struct patch_add_argument *a) {
  (void)gpu;
  const struct parts list = list_parts(a->l, a->set, a->slab);
  const uint32_t n = list.count;
  const struct patch **patch = allocate(n, sizeof *patch, "patch table");
  const float **data = allocate(n, sizeof *data, "patch table");
  for (uint32_t i = 0; i < n; i++) {
    patch[i] = &list.part[i].patch;
    data[i] = cells_of_part(&list.part[i], buffers);
  }
  gpu_patch_add(a->l->gpu[worker_number()], a->slab, n, patch, data, VECTOR(float, buffers[SLAB]));
  free(patch);
  free(data);
  free(list.part);
}

STAGE(patch_add, 0x882255, "pm");

void patch_add_submit(struct long_range *l, uint32_t set, uint32_t slab) {
  const struct parts list = list_parts(l, set, slab);
  const size_t count = PATCHES + (size_t)list.slots;
  struct starpu_data_descr *data = allocate(count, sizeof *data, "task data");
  data[SLAB] = (struct starpu_data_descr){l->slab_handle[slab_row(l, set, 0, slab)], STARPU_W};
  for (uint32_t i = 0; i < list.count; i++)
    data[PATCHES + list.part[i].slot] = (struct starpu_data_descr){list.part[i].handle, STARPU_R};
  patch_add_insert((struct patch_add_argument){l, set, slab},
                   (struct task){.data = data, .count = count, .priority = PRIORITY_HIGH});
  free(list.part);
  free(data);
}
