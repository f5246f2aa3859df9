/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies between the planes of a slab, [x][y][kz] complex numbers of this rank's kz, and blocks that have some y
 * each: the transpose blocks of columns, or the row blocks of parts. */
#ifndef PHOTONS_BLOCK_ROWS_CUH
#define PHOTONS_BLOCK_ROWS_CUH

#include "cuda/mesh/blocks.cuh"

enum { ROW_THREADS = 256, REPEATED = 4 /* first cells of a row, repeated after its end */ };

/** n blocks, of which block i has y from i N/n on. One CUDA block for each row of kz.
 * @param field  from blocks: 1 and 2 are multiplied by the wave numbers along y and z */
template <bool TO_BLOCKS>
static __global__ void copy_rows(const struct mesh m, uint32_t n, uint32_t field,
                                 float2 *const *__restrict__ blocks, float2 *__restrict__ planes) {
  const uint32_t y = blockIdx.x, plane = blockIdx.y;
  const uint32_t i = (uint32_t)((((uint64_t)y + 1) * n - 1) / m.cells),
                 first = (uint32_t)((uint64_t)m.cells * i / n),
                 width = (uint32_t)((uint64_t)m.cells * (i + 1) / n) - first;
  float2 *in_block = blocks[i] + ((size_t)plane * width + y - first) * m.kzs,
         *in_plane = planes + ((size_t)plane * m.cells + y) * m.kzs;
  for (uint32_t z = threadIdx.x; z < m.kzs; z += ROW_THREADS) {
    if (TO_BLOCKS) {
      in_block[z] = in_plane[z];
    } else {
      const float scale = field == 0 ? 1.0f : m.wave[field == 1 ? y : m.first_kz + z];
      in_plane[z] = {in_block[z].x * scale, in_block[z].y * scale};
    }
  }
}

/** Launch copy_rows(). @param table  device memory for n pointers */
template <bool TO_BLOCKS>
static void copy_block_rows(struct gpu_mesh *g, uint32_t planes, uint32_t n, uint32_t field,
                            const float *const *blocks, float2 *spectrum) {
  const struct mesh *m = g->mesh;
  float2 **table = (float2 **)gpu_scratch(g->gpu, SCRATCH_TABLE,
                                          (m->columns + m->parts) * sizeof *table);
  gpu_upload(g->gpu, table, blocks, n * sizeof *table);
  copy_rows<TO_BLOCKS><<<dim3(m->cells, planes), ROW_THREADS, 0, g->gpu->stream>>>(
      g->device.m, n, field, table, spectrum);
  gpu_launched("copy_rows");
}

static __global__ void repeat(uint32_t rows, uint32_t cells, uint32_t row, size_t plane_step,
                              float *slab) {
  const uint32_t i = blockIdx.x * ROW_THREADS + threadIdx.x, y = i / REPEATED, z = i % REPEATED;
  if (y >= rows) return;
  float *begin = slab + blockIdx.y * plane_step + (size_t)y * row;
  begin[cells + z] = begin[z];
}

static inline void repeat_cells(struct gpu_mesh *g, uint32_t planes, float *slab) {
  const struct mesh *m = g->mesh;
  repeat<<<dim3(blocks_for(REPEATED * m->ys, ROW_THREADS), planes), ROW_THREADS, 0, g->gpu->stream>>>(
      m->ys, m->cells, m->row, plane_floats(m), slab);
  gpu_launched("repeat");
}

static inline uint32_t planes_of_slab(const struct mesh *m, uint32_t slab) {
  return slab_first(m, slab + 1) - slab_first(m, slab);
}

/** Scratch memory for the planes of a slab. @param rows, kz  of a plane */
static inline float2 *spectrum_of_slab(struct gpu_mesh *g, uint32_t planes, uint32_t rows,
                                       uint32_t kz) {
  return (float2 *)gpu_scratch(g->gpu, SCRATCH_SPECTRUM,
                               (size_t)planes * rows * kz * sizeof(float2));
}

#endif
