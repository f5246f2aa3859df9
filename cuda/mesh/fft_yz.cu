/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_yz: transform the planes of a slab with cuFFT and scatter the spectra to the transpose blocks
 * of all columns. */
#include "cuda/mesh/blocks.cuh"

enum { BLOCK = 256 };

/** spectrum: [plane][ky][kz]. One CUDA block for each row of kz. */
static __global__ void scatter(const struct mesh m, const float2 *__restrict__ spectrum,
                               float2 *const *__restrict__ blocks) {
  const uint32_t ky = blockIdx.x, plane = blockIdx.y, column = column_of(m, ky);
  const uint32_t first = column_first(&m, column), width = column_first(&m, column + 1) - first;
  const float2 *from = spectrum + ((size_t)plane * m.cells + ky) * m.kz;
  float2 *to = blocks[column] + ((size_t)plane * width + ky - first) * m.kz;
  for (uint32_t kz = threadIdx.x; kz < m.kz; kz += BLOCK) to[kz] = from[kz];
}

void gpu_fft_yz(struct gpu_mesh *g, uint32_t slab_number, float *slab, float *const *blocks) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = slab_first(m, slab_number + 1) - slab_first(m, slab_number);
  float2 *spectrum = (float2 *)gpu_scratch(g->gpu, SCRATCH_SPECTRUM,
                                           (size_t)planes * m->cells * m->kz * sizeof *spectrum);
  float2 **table = (float2 **)gpu_scratch(g->gpu, SCRATCH_TABLE, m->columns * sizeof *table);
  gpu_upload(g->gpu, table, blocks, m->columns * sizeof *table);
  CHECK_CUFFT(cufftExecR2C(plans_for(g->slab_plans, planes)->forward, slab, spectrum));
  scatter<<<dim3(m->cells, planes), BLOCK, 0, g->gpu->stream>>>(g->device.m, spectrum, table);
  gpu_launched("fft_yz");
}
