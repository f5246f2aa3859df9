/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pm_cut: one warp for each row that is copied, of all copies in one launch. */
#include "cuda/mesh/gpu_mesh.cuh"

enum { BLOCK = 128, ROWS = BLOCK / WARP };

/** The copy that a row is of: the last one with no more rows before it. */
static __device__ inline const struct cell_copy *copy_of_row(const struct cell_copy *copy,
                                                             uint32_t count, uint32_t row) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (copy[middle].before <= row)
      low = middle;
    else
      high = middle;
  }
  return copy + low;
}

static __global__ void __launch_bounds__(BLOCK)
    copy_rows(const struct cell_copy *copies, uint32_t count, uint32_t rows) {
  const uint32_t row = blockIdx.x * ROWS + threadIdx.x / WARP;
  if (row >= rows) return;
  const struct cell_copy c = *copy_of_row(copies, count, row);
  const uint32_t x = (row - c.before) / c.rows, y = (row - c.before) % c.rows;
  const float *from = c.from + x * c.from_plane + y * c.from_row;
  float *to = c.to + x * c.to_plane + y * c.to_row;
  for (uint32_t z = threadIdx.x % WARP; z < c.cells; z += WARP) to[z] = from[z];
}

void gpu_copy_cells(struct gpu_mesh *g, const struct cell_copies *list) {
  if (list->rows == 0) return;
  const size_t bytes = list->count * sizeof *list->copy;
  struct cell_copy *table = (struct cell_copy *)gpu_scratch(g->gpu, SCRATCH_TABLE, bytes);
  gpu_upload(g->gpu, table, list->copy, bytes);
  copy_rows<<<blocks_for(list->rows, ROWS), BLOCK, 0, g->gpu->stream>>>(table, list->count,
                                                                        list->rows);
  gpu_launched("pm_cut");
}
