/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_yz: gather the spectra of a slab from the transpose blocks of all columns and transform them
 * back with cuFFT. */
#include "cuda/mesh/block_rows.cuh"

void gpu_ifft_yz(struct gpu_mesh *g, uint32_t slab_number, uint32_t field,
                 const float *const *blocks, float *slab) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = planes_of_slab(m, slab_number);
  float2 *spectrum = spectrum_of_slab(g, planes, m->cells, m->kz);
  copy_block_rows<false>(g, planes, m->columns, field, blocks, spectrum);
  CHECK_CUFFT(cufftExecC2R(plans_for(g->slab_plans, planes)->backward, spectrum, slab));
  repeat_cells(g, planes, slab);
}
