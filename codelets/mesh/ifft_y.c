/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_y: the first part of ifft_yz of pencils: transforms this rank's kz of one field in a slab back along y, and
 * scatters them to the row blocks of all parts of the slab, which have some rows each.
 *
 * reads  the slab's tiles (fft_x.c)
 * writes row blocks of these kz */
#include "codelets/mesh/row_blocks.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/mesh/codelets.h"

struct ifft_y_argument {
  const struct long_range *l;
  uint32_t set, field, slab;
};
/* Slots: row blocks [part], tiles [column]. */

static double ifft_y_work(const struct ifft_y_argument *a) {
  return (double)block_size(a->l->mesh, a->slab, 0);
}

static void ifft_y_cpu(void *buffers[], const struct ifft_y_argument *a) {
  const struct mesh *m = a->l->mesh;
  float complex *rows[m->parts], *columns[m->columns];
  unwrap_rows(buffers, a->l, a->set, a->slab, OF_OWN_KZ, rows);
  unwrap_columns(buffers + m->parts, a->l, a->set, a->slab, columns);
  mesh_ifft_y(m, a->slab, a->field, (const float complex *const *)columns, rows,
              a->l->fft[worker_number()]);
}

static void ifft_y_gpu(struct gpu *gpu, void *buffers[], const struct ifft_y_argument *a) {
  (void)gpu;
  const struct mesh *m = a->l->mesh;
  float complex *rows[m->parts], *columns[m->columns];
  unwrap_rows(buffers, a->l, a->set, a->slab, OF_OWN_KZ, rows);
  unwrap_columns(buffers + m->parts, a->l, a->set, a->slab, columns);
  gpu_ifft_y(a->l->gpu[worker_number()], a->slab, a->field, (const float complex *const *)columns,
             rows);
}

STAGE(ifft_y, 0x7777cc, "pm");

void ifft_y_submit(struct long_range *l, uint32_t set, uint32_t field, uint32_t slab) {
  const uint32_t spectrum = spectrum_of_field(field);
  struct row_slots slots = row_slots(l, l->mesh->columns);
  add_row_blocks(&slots, l, set, slab, OF_OWN_KZ, block_written(l, set));
  for (uint32_t c = 0; c < l->mesh->columns; c++)
    add_slot(&slots, block_of(l, spectrum_row(l, set, spectrum, slab, c)), STARPU_R);
  ifft_y_insert((struct ifft_y_argument){l, set, field, slab},
                (struct task){.data = slots.data, .count = slots.count, .priority = PRIORITY_HIGH});
  free(slots.data);
}
