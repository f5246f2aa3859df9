/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_yz: transform the planes of a slab with cuFFT and scatter the spectra to the transpose blocks
 * of all columns. */
#include "cuda/mesh/block_rows.cuh"

void gpu_fft_yz(struct gpu_mesh *g, uint32_t slab_number, float *slab, float *const *blocks) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = planes_of_slab(m, slab_number);
  float2 *spectrum = spectrum_of_slab(g, planes, m->cells, m->kz);
  CHECK_CUFFT(cufftExecR2C(plans_for(g->slab_plans, planes)->forward, slab, spectrum));
  copy_block_rows<true>(g, planes, m->columns, 0, blocks, spectrum);
}
