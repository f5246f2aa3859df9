/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_cut: one CUDA block for each row. */
#include "cuda/mesh/gpu_mesh.cuh"

enum { BLOCK = 128 };

/** first_y: of this part of the slabs. */
static __global__ void cut(uint32_t cells, uint32_t slab_row, uint32_t first_y,
                           struct field_box box, const float *const *plane, float *out) {
  const uint32_t y = (box.origin[0] + blockIdx.x) % cells - first_y;
  const float *row = plane[blockIdx.y] + (size_t)y * slab_row;
  float *to = out + ((size_t)blockIdx.y * box.size[0] + blockIdx.x) * box.row;
  for (uint32_t z = threadIdx.x; z < box.row; z += BLOCK) to[z] = row[(box.origin[1] + z) % cells];
}

void gpu_cut(struct gpu_mesh *g, const struct field_box *box, uint32_t planes,
             const float *const *plane, float *out) {
  void *table = gpu_scratch(g->gpu, SCRATCH_TABLE, planes * sizeof *plane);
  gpu_upload(g->gpu, table, plane, planes * sizeof *plane);
  cut<<<dim3(box->size[0], planes), BLOCK, 0, g->gpu->stream>>>(
      g->mesh->cells, g->mesh->row, g->mesh->first_y, *box, (const float *const *)table, out);
  gpu_launched("pm_cut");
}
