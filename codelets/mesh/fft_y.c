/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_y: the second part of fft_yz of pencils: gathers all rows of this rank's kz in a slab, transforms them along
 * y, and scatters them to the tiles of all columns (fft_x.c).
 *
 * reads  row blocks of these kz (fft_z.c)
 * writes the slab's tiles */
#include "codelets/mesh/row_blocks.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/mesh/codelets.h"

struct fft_y_argument {
  const struct long_range *l;
  uint32_t set, slab;
};
/* Slots: row blocks [part], tiles [column]. */

static double fft_y_work(const struct fft_y_argument *a) {
  return (double)block_size(a->l->mesh, a->slab, 0);
}

static void fft_y_cpu(void *buffers[], const struct fft_y_argument *a) {
  const struct mesh *m = a->l->mesh;
  float complex *rows[m->parts], *columns[m->columns];
  unwrap_rows(buffers, a->l, a->set, a->slab, OF_OWN_KZ, rows);
  unwrap_columns(buffers + m->parts, a->l, a->set, a->slab, columns);
  mesh_fft_y(m, a->slab, (const float complex *const *)rows, columns, a->l->fft[worker_number()]);
}

static void fft_y_gpu(struct gpu *gpu, void *buffers[], const struct fft_y_argument *a) {
  (void)gpu;
  const struct mesh *m = a->l->mesh;
  float complex *rows[m->parts], *columns[m->columns];
  unwrap_rows(buffers, a->l, a->set, a->slab, OF_OWN_KZ, rows);
  unwrap_columns(buffers + m->parts, a->l, a->set, a->slab, columns);
  gpu_fft_y(a->l->gpu[worker_number()], a->slab, (const float complex *const *)rows, columns);
}

STAGE(fft_y, 0x444499, "pm");

void fft_y_submit(struct long_range *l, uint32_t set, uint32_t slab) {
  struct row_slots slots = row_slots(l, l->mesh->columns);
  add_row_blocks(&slots, l, set, slab, OF_OWN_KZ, STARPU_R);
  for (uint32_t c = 0; c < l->mesh->columns; c++)
    add_slot(&slots, block_of(l, density_row(l, set, slab, c)), block_written(l, set));
  fft_y_insert((struct fft_y_argument){l, set, slab},
               (struct task){.data = slots.data, .count = slots.count, .priority = PRIORITY_HIGH});
  free(slots.data);
}
