/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_yz: transforms the planes of one field in a slab back to real space.
 *
 * reads  the slab's tiles (fft_x.c)
 * writes the slab */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"

struct ifft_yz_argument {
  const struct long_range *l;
  uint32_t set, field, slab;
};
enum { SLAB, BLOCKS };

static double ifft_yz_work(const struct ifft_yz_argument *a) {
  return (double)block_size(a->l->mesh, a->slab, 0);
}

static void unwrap(void *buffers[], const struct ifft_yz_argument *a,
                   const float complex **blocks) {
  for (uint32_t c = 0; c < a->l->mesh->columns; c++)
    blocks[c] = VECTOR(const float complex, buffers[BLOCKS + c]) +
                block_at(a->l, a->set, a->slab, c);
}

static void ifft_yz_cpu(void *buffers[], const struct ifft_yz_argument *a) {
  const float complex *blocks[a->l->mesh->columns];
  unwrap(buffers, a, blocks);
  mesh_ifft_yz(a->l->mesh, a->slab, a->field, blocks, VECTOR(float, buffers[SLAB]),
               a->l->fft[worker_number()]);
}

static void ifft_yz_gpu(struct gpu *gpu, void *buffers[], const struct ifft_yz_argument *a) {
  (void)gpu;
  const float complex *blocks[a->l->mesh->columns];
  unwrap(buffers, a, blocks);
  gpu_ifft_yz(a->l->gpu[worker_number()], a->slab, a->field, blocks, VECTOR(float, buffers[SLAB]));
}

STAGE(ifft_yz, 0x6666cc, "pm");

void ifft_yz_submit(struct long_range *l, uint32_t set, uint32_t field, uint32_t slab) {
  const size_t count = BLOCKS + (size_t)l->mesh->columns;
  const uint32_t spectrum = spectrum_of_field(field);
  struct starpu_data_descr *data = allocate(count, sizeof *data, "task data");
  data[SLAB] = (struct starpu_data_descr){l->slab_handle[slab_row(l, set, field, slab)], STARPU_W};
  for (uint32_t c = 0; c < l->mesh->columns; c++)
    data[BLOCKS + c] = (struct starpu_data_descr){
        block_of(l, spectrum_row(l, set, spectrum, slab, c)), STARPU_R};
  ifft_yz_insert((struct ifft_yz_argument){l, set, field, slab},
                 (struct task){.data = data, .count = count, .priority = PRIORITY_HIGH});
  free(data);
}
