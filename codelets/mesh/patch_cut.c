/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patch_cut: the planes of a patch that another process has. Reads the patch; writes the piece that travels. */
#include <string.h>

#include "codelets/runtime/task.h"

/** Where the piece begins in the patch, and its cells. */
static size_t piece_of_patch(const struct task_argument *a, size_t *cells) {
  const struct mesh_piece *piece = &a->group->sent.piece[a->column];
  const size_t plane = (size_t)a->group->patch.size[1] * a->group->patch.size[2];
  *cells = piece->planes * plane;
  const uint32_t cells_of_mesh = a->simulation->mesh->cells;
  return (piece->first + cells_of_mesh - a->group->patch.origin[0]) % cells_of_mesh * plane;
}

static void patch_cut_cpu(void *buffers[], void *arguments) {
  size_t cells, first = piece_of_patch(arguments, &cells);
  memcpy(VECTOR(float, buffers[0]), VECTOR(const float, buffers[1]) + first, cells * sizeof(float));
}

#ifdef PHOTONS_CUDA
static void patch_cut_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  size_t cells, first = piece_of_patch(a, &cells);
  gpu_copy(task_worker(a)->gpu, VECTOR(float, buffers[0]), VECTOR(const float, buffers[1]) + first,
           cells * sizeof(float));
}
#endif

PHOTONS_CODELET(patch_cut, 0xddaacc, a->group->sent.piece[a->column].planes);

void patch_cut_submit(struct group *g, uint32_t k, uint32_t set) {
  const struct starpu_data_descr data[] = {{g->sent.piece[k].handle[set], STARPU_W}, {g->patch_handle[set], STARPU_R}};
  task_submit(&patch_cut_codelet,
              (struct task_argument){.simulation = g->simulation, .group = g, .column = k, .set = set}, data, 2,
              PRIORITY_MESH);
}
