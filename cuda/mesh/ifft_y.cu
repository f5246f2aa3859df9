/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_y: gather this rank's kz of a field from the transpose blocks of all columns, transform them back along y with
 * cuFFT, plane by plane, and scatter them to the row blocks of all parts. */
#include "cuda/mesh/block_rows.cuh"

void gpu_ifft_y(struct gpu_mesh *g, uint32_t slab_number, uint32_t field,
                const float *const *columns, float *const *rows) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = planes_of_slab(m, slab_number);
  float2 *spectrum = spectrum_of_slab(g, planes, m->cells, m->kzs);
  copy_block_rows<false>(g, planes, m->columns, field, columns, spectrum);
  for (uint32_t x = 0; x < planes; x++) {
    cufftComplex *plane = spectrum + (size_t)x * m->cells * m->kzs;
    CHECK_CUFFT(cufftExecC2C(g->pencil_plans.y, plane, plane, CUFFT_INVERSE));
  }
  copy_block_rows<true>(g, planes, m->parts, 0, rows, spectrum);
}
