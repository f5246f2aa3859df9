/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fields_x: the second part of fft_x, where sets are made in turn: from the potential in a column
 * of wave numbers to the spectra of a set's fields, transformed back along x.
 *
 * reads  the tiles of the potential
 * writes the tiles of all spectra */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"

struct fields_x_argument {
  const struct long_range *l;
  uint32_t set, column;
};
/* Slots: the column's tiles of the potential, [slab], and of the spectra, [spectrum][slab]. */

static double fields_x_work(const struct fields_x_argument *a) {
  return (double)block_size(a->l->mesh, 0, a->column);
}

static void fields_x_cpu(void *buffers[], const struct fields_x_argument *a) {
  const struct mesh *m = a->l->mesh;
  const float complex *potential[m->slabs];
  float complex *out[m->spectra * m->slabs];
  for (uint32_t i = 0; i < m->slabs; i++) potential[i] = VECTOR(const float complex, buffers[i]);
  for (uint32_t i = 0; i < m->spectra * m->slabs; i++)
    out[i] = VECTOR(float complex, buffers[m->slabs + i]);
  mesh_fields_x(m, a->column, a->set, potential, out, a->l->fft[worker_number()]);
}

STAGE_ON_CPU(fields_x, 0x5555bb, "pm");

void fields_x_submit(struct long_range *l, uint32_t set, uint32_t column) {
  const struct mesh *m = l->mesh;
  struct starpu_data_descr *data = allocate((size_t)(1 + m->spectra) * m->slabs, sizeof *data,
                                            "task data");
  size_t n = 0;
  for (uint32_t slab = 0; slab < m->slabs; slab++)
    data[n++] = (struct starpu_data_descr){block_of(l, density_row(l, 0, slab, column)), STARPU_R};
  for (uint32_t spectrum = 0; spectrum < m->spectra; spectrum++)
    for (uint32_t slab = 0; slab < m->slabs; slab++)
      data[n++] = (struct starpu_data_descr){
          block_of(l, spectrum_row(l, set, spectrum, slab, column)), STARPU_W};
  fields_x_insert((struct fields_x_argument){l, set, column},
                  (struct task){.data = data, .count = n, .priority = PRIORITY_HIGH});
  free(data);
}
