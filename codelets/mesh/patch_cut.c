/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_cut: copies the planes of a group's patch that overlap another rank's slabs, to be sent
 * there.
 *
 * reads  the patch
 * writes the piece */
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/message.h"

struct patch_cut_argument {
  size_t first, cells; /* first cell of the piece in the patch, number of cells */
  uint32_t planes;
};
enum { PIECE, PATCH, SLOTS };

static double patch_cut_work(const struct patch_cut_argument *a) { return a->planes; }

static void patch_cut_cpu(void *buffers[], const struct patch_cut_argument *a) {
  memcpy(VECTOR(float, buffers[PIECE]), VECTOR(const float, buffers[PATCH]) + a->first,
         a->cells * sizeof(float));
}

static void patch_cut_gpu(struct gpu *gpu, void *buffers[], const struct patch_cut_argument *a) {
  gpu_copy(gpu, VECTOR(float, buffers[PIECE]), VECTOR(const float, buffers[PATCH]) + a->first,
           a->cells * sizeof(float));
}

STAGE(patch_cut, 0xddaacc, "pm");

void patch_cut_submit(struct long_range *l, struct group *g, uint32_t k, uint32_t set) {
  const struct group_cells *c = cells_of(l, g);
  const struct mesh_piece *piece = &c->sent.piece[k];
  const uint32_t n = l->mesh->cells;
  const size_t plane = (size_t)c->patch.size[1] * c->patch.size[2];
  const struct starpu_data_descr data[SLOTS] = {
      [PIECE] = {piece->handle[set_place(l, set)], STARPU_W},
      [PATCH] = {c->patch_handle[set_place(l, set)], STARPU_R}};
  patch_cut_insert(
      (struct patch_cut_argument){.first = (piece->first + n - c->patch.origin[0]) % n * plane,
                                  .cells = piece->planes * plane,
                                  .planes = piece->planes},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_HIGH, .owner = &g->index});
}

void patches_transfer(struct long_range *l, uint32_t set) {
  FOR_CELLS(l, c)
  for (uint32_t k = 0; k < c->sent.count; k++)
    message_transfer(c->sent.piece[k].handle[set_place(l, set)], MESSAGE_PATCH + set,
                     c->group * (size_t)l->mesh->cells + k, l->domain->groups[c->group].owner,
                     c->sent.piece[k].rank, PRIORITY_HIGH);
}
