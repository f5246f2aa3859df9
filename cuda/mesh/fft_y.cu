/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_y: gather all rows of this rank's kz in a slab, transform them along y with cuFFT, plane by plane, and
 * scatter them to the transpose blocks of all columns. */
#include "cuda/mesh/block_rows.cuh"

void gpu_fft_y(struct gpu_mesh *g, uint32_t slab_number, const float *const *rows,
               float *const *columns) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = planes_of_slab(m, slab_number);
  float2 *spectrum = spectrum_of_slab(g, planes, m->cells, m->kzs);
  copy_block_rows<false>(g, planes, m->parts, 0, rows, spectrum);
  for (uint32_t x = 0; x < planes; x++) {
    cufftComplex *plane = spectrum + (size_t)x * m->cells * m->kzs;
    CHECK_CUFFT(cufftExecC2C(g->pencil_plans.y, plane, plane, CUFFT_FORWARD));
  }
  copy_block_rows<true>(g, planes, m->columns, 0, columns, spectrum);
}
