/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_yz: transforms the planes of a slab along y and z, and scatters them to the tiles of all
 * columns (fft_x.c).
 *
 * updates the slab, whose contents are lost
 * writes  the slab's tiles */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"

struct fft_yz_argument {
  const struct long_range *l;
  uint32_t set, slab;
};
enum { SLAB, BLOCKS };

static double fft_yz_work(const struct fft_yz_argument *a) {
  return (double)block_size(a->l->mesh, a->slab, 0);
}

static void unwrap(void *buffers[], const struct fft_yz_argument *a, float complex **blocks) {
  for (uint32_t c = 0; c < a->l->mesh->columns; c++)
    blocks[c] = VECTOR(float complex, buffers[BLOCKS + c]) + block_at(a->l, a->set, a->slab, c);
}

static void fft_yz_cpu(void *buffers[], const struct fft_yz_argument *a) {
  float complex *blocks[a->l->mesh->columns];
  unwrap(buffers, a, blocks);
  mesh_fft_yz(a->l->mesh, a->slab, VECTOR(float, buffers[SLAB]), blocks,
              a->l->fft[worker_number()]);
}

static void fft_yz_gpu(struct gpu *gpu, void *buffers[], const struct fft_yz_argument *a) {
  (void)gpu;
  float complex *blocks[a->l->mesh->columns];
  unwrap(buffers, a, blocks);
  gpu_fft_yz(a->l->gpu[worker_number()], a->slab, VECTOR(float, buffers[SLAB]), blocks);
}

STAGE(fft_yz, 0x332288, "pm");

void fft_yz_submit(struct long_range *l, uint32_t set, uint32_t slab) {
  const size_t count = BLOCKS + (size_t)l->mesh->columns;
  struct starpu_data_descr *data = allocate(count, sizeof *data, "task data");
  data[SLAB] = (struct starpu_data_descr){l->slab_handle[slab_row(l, set, 0, slab)], STARPU_RW};
  for (uint32_t c = 0; c < l->mesh->columns; c++)
    data[BLOCKS + c] = (struct starpu_data_descr){block_of(l, density_row(l, set, slab, c)),
                                                  block_written(l, set)};
  fft_yz_insert((struct fft_yz_argument){l, set, slab},
                (struct task){.data = data, .count = count, .priority = PRIORITY_HIGH});
  free(data);
}
