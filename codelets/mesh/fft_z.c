/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_z: the first part of fft_yz of pencils: transforms this rank's rows of a slab along z, and scatters them
 * to the row blocks of all parts of the slab, which have some kz each.
 *
 * updates the rows of the slab, whose contents are lost
 * writes  row blocks of these rows */
#include "codelets/mesh/row_blocks.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/comm.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/message.h"

struct fft_z_argument {
  const struct long_range *l;
  uint32_t set, slab;
};
enum { SLAB, BLOCKS };

static double fft_z_work(const struct fft_z_argument *a) {
  return (double)block_size(a->l->mesh, a->slab, 0);
}

static void fft_z_cpu(void *buffers[], const struct fft_z_argument *a) {
  float complex *blocks[a->l->mesh->parts];
  unwrap_rows(buffers + BLOCKS, a->l, a->set, a->slab, OF_OWN_ROWS, blocks);
  mesh_fft_z(a->l->mesh, a->slab, VECTOR(float, buffers[SLAB]), blocks, a->l->fft[worker_number()]);
}

static void fft_z_gpu(struct gpu *gpu, void *buffers[], const struct fft_z_argument *a) {
  (void)gpu;
  float complex *blocks[a->l->mesh->parts];
  unwrap_rows(buffers + BLOCKS, a->l, a->set, a->slab, OF_OWN_ROWS, blocks);
  gpu_fft_z(a->l->gpu[worker_number()], a->slab, VECTOR(float, buffers[SLAB]), blocks);
}

STAGE(fft_z, 0x333377, "pm");

void fft_z_submit(struct long_range *l, uint32_t set, uint32_t slab) {
  struct row_slots slots = row_slots(l, BLOCKS);
  add_slot(&slots, l->slab_handle[slab_row(l, set, 0, slab)], STARPU_RW);
  add_row_blocks(&slots, l, set, slab, OF_OWN_ROWS, block_written(l, set));
  fft_z_insert((struct fft_z_argument){l, set, slab},
               (struct task){.data = slots.data, .count = slots.count, .priority = PRIORITY_HIGH});
  free(slots.data);
}

/** Send row block (i, j) of a slab, of which this rank has one end. Messages between two ranks with the same number
 * may arrive in any order where they go through memory that the ranks share, so that all have different ones. */
static void transfer(struct long_range *l, uint32_t set, enum mesh_rows what, uint32_t slab,
                     uint32_t i, uint32_t j) {
  const struct mesh *m = l->mesh;
  const bool back = what != ROWS_OF_DENSITY;
  const int rows = part_owner(m, slab, i), kz = part_owner(m, slab, j);
  message_transfer(*row_block_of(l, set, slab, i, j), MESSAGE_ROW_BLOCK,
                   ((size_t)what * l->sets + set) * m->slabs + slab, back ? kz : rows,
                   back ? rows : kz, PRIORITY_HIGH);
}

void rows_transfer(struct long_range *l, uint32_t set, enum mesh_rows what) {
  const uint32_t own = l->mesh->part;
  for (uint32_t slab = l->own_slabs.first; slab < l->own_slabs.end; slab++)
    for (uint32_t k = 0; k < l->mesh->parts; k++) {
      if (k == own) continue;
      transfer(l, set, what, slab, own, k);
      transfer(l, set, what, slab, k, own);
    }
}
