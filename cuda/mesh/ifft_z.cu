/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_z: gather all kz of this rank's rows of a slab from row blocks and transform them back with cuFFT, plane by
 * plane. */
#include "cuda/mesh/block_rows.cuh"

void gpu_ifft_z(struct gpu_mesh *g, uint32_t slab_number, const float *const *blocks, float *slab) {
  const struct mesh *m = g->mesh;
  const uint32_t planes = planes_of_slab(m, slab_number);
  float2 *spectrum = spectrum_of_slab(g, planes, m->ys, m->kz);
  for (uint32_t j = 0; j < m->parts; j++) {
    const size_t first = part_first_kz(m, j), width = part_first_kz(m, j + 1) - first;
    gpu_copy_rows(g->gpu, spectrum + first, m->kz * sizeof *spectrum, blocks[j],
                  width * sizeof *spectrum, width * sizeof *spectrum, (size_t)planes * m->ys);
  }
  for (uint32_t x = 0; x < planes; x++)
    CHECK_CUFFT(cufftExecC2R(g->pencil_plans.z_backward, spectrum + (size_t)x * m->ys * m->kz,
                             slab + x * plane_floats(m)));
  repeat_cells(g, planes, slab);
}
