/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_z: the second part of ifft_yz of pencils: gathers all kz of this rank's rows of one field in a slab, and
 * transforms them back to real space.
 *
 * reads  row blocks of these rows (ifft_y.c)
 * writes the rows of the slab */
#include "codelets/mesh/row_blocks.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/mesh/codelets.h"

struct ifft_z_argument {
  const struct long_range *l;
  uint32_t set, slab;
};
enum { SLAB, BLOCKS };

static double ifft_z_work(const struct ifft_z_argument *a) {
  return (double)block_size(a->l->mesh, a->slab, 0);
}

static void ifft_z_cpu(void *buffers[], const struct ifft_z_argument *a) {
  float complex *blocks[a->l->mesh->parts];
  unwrap_rows(buffers + BLOCKS, a->l, a->set, a->slab, OF_OWN_ROWS, blocks);
  mesh_ifft_z(a->l->mesh, a->slab, (const float complex *const *)blocks,
              VECTOR(float, buffers[SLAB]), a->l->fft[worker_number()]);
}

static void ifft_z_gpu(struct gpu *gpu, void *buffers[], const struct ifft_z_argument *a) {
  (void)gpu;
  float complex *blocks[a->l->mesh->parts];
  unwrap_rows(buffers + BLOCKS, a->l, a->set, a->slab, OF_OWN_ROWS, blocks);
  gpu_ifft_z(a->l->gpu[worker_number()], a->slab, (const float complex *const *)blocks,
             VECTOR(float, buffers[SLAB]));
}

STAGE(ifft_z, 0x8888dd, "pm");

void ifft_z_submit(struct long_range *l, uint32_t set, uint32_t field, uint32_t slab) {
  struct row_slots slots = row_slots(l, BLOCKS);
  add_slot(&slots, l->slab_handle[slab_row(l, set, field, slab)], STARPU_W);
  add_row_blocks(&slots, l, set, slab, OF_OWN_ROWS, STARPU_R);
  ifft_z_insert((struct ifft_z_argument){l, set, slab},
                (struct task){.data = slots.data, .count = slots.count, .priority = PRIORITY_HIGH});
  free(slots.data);
}
