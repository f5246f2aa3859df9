/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_yz: gather the spectra of a slab from the transpose blocks of all columns and transform them
 * back with cuFFT. */
#include "cuda/mesh/blocks.cuh"

enum { BLOCK = 256, REPEATED = 4 /* first cells of a row, repeated after its end */ };

/** spectrum: [plane][ky][kz]. One CUDA block for each row of kz. */
static __global__ void gather(const struct mesh m, uint32_t field,
                              const float2 *const *__restrict__ blocks,
                              float2 *__restrict__ spectrum) {
  const uint32_t ky = blockIdx.x, plane = blockIdx.y, column = column_of(m, ky);
  const uint32_t first = column_first(&m, column), width = column_first(&m, column + 1) - first;
  const float2 *from = blocks[column] + ((size_t)plane * width + ky - first) * m.kz;
  float2 *to = spectrum + ((size_t)plane * m.cells + ky) * m.kz;
  for (uint32_t kz = threadIdx.x; kz < m.kz; kz += BLOCK) {
    const float scale = field == 0 ? 1.0f : m.wave[field == 1 ? ky : kz];
    to[kz] = {from[kz].x * scale, from[kz].y * scale};
  }
}

static __global__ void repeat(uint32_t cells, uint32_t row, size_t plane_step, float *slab) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x, y = i / REPEATED, z = i % REPEATED;
  if (y >= cells) return;
  float *begin = slab + blockIdx.y * plane_step + (size_t)y * row;
  begin[cells + z] = begin[z];
}

void gpu_ifft_yz(struct gpu_mesh *g, uint32_t slab_number, uint32_t field,
                 const float *const *blocks, float *slab) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = slab_first(m, slab_number + 1) - slab_first(m, slab_number);
  float2 *spectrum = (float2 *)gpu_scratch(g->gpu, SCRATCH_SPECTRUM,
                                           (size_t)planes * m->cells * m->kz * sizeof *spectrum);
  const float2 **table = (const float2 **)gpu_scratch(g->gpu, SCRATCH_TABLE,
                                                      m->columns * sizeof *table);
  gpu_upload(g->gpu, table, blocks, m->columns * sizeof *table);
  gather<<<dim3(m->cells, planes), BLOCK, 0, g->gpu->stream>>>(g->device.m, field, table, spectrum);
  gpu_launched("ifft_yz");
  CHECK_CUFFT(cufftExecC2R(plans_for(g->slab_plans, planes)->backward, spectrum, slab));
  repeat<<<dim3(blocks_for(REPEATED * m->cells, BLOCK), planes), BLOCK, 0, g->gpu->stream>>>(
      m->cells, m->row, plane_floats(m), slab);
  gpu_launched("ifft_yz");
}
