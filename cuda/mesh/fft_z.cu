/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_z: transform this rank's rows of a slab along z with cuFFT, plane by plane, and scatter them to the row blocks
 * of all parts. */
#include "cuda/mesh/block_rows.cuh"

void gpu_fft_z(struct gpu_mesh *g, uint32_t slab_number, float *slab, float *const *blocks) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = planes_of_slab(m, slab_number);
  float2 *spectrum = spectrum_of_slab(g, planes, m->ys, m->kz);
  for (uint32_t x = 0; x < planes; x++)
    CHECK_CUFFT(cufftExecR2C(g->pencil_plans.z_forward, slab + x * plane_floats(m),
                             spectrum + (size_t)x * m->ys * m->kz));
  for (uint32_t j = 0; j < m->parts; j++) {
    const size_t first = part_first_kz(m, j), width = part_first_kz(m, j + 1) - first;
    gpu_copy_rows(g->gpu, blocks[j], width * sizeof *spectrum, spectrum + first,
                  m->kz * sizeof *spectrum, width * sizeof *spectrum, (size_t)planes * m->ys);
  }
}
