/* SPDX-License-Identifier: GPL-3.0-or-later */
/* potential_x: the first part of fft_x, where sets are made in turn: transforms the densities in a
 * column along x, combines them, and multiplies by Green's function.
 *
 * updates the tiles of the density of set 0, which become those of the potential
 * reads   the tiles of the density of set 1
 * writes  the column's sum of potentials */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"

struct potential_x_argument {
  const struct long_range *l;
  uint32_t column;
};
/* Slots: the column's tiles, [set][slab], and its sum of potentials. */

static double potential_x_work(const struct potential_x_argument *a) {
  return (double)block_size(a->l->mesh, 0, a->column);
}

static void potential_x_cpu(void *buffers[], const struct potential_x_argument *a) {
  const uint32_t slabs = a->l->mesh->slabs;
  const float complex *in[SETS_MOST * slabs];
  float complex *potential[slabs];
  for (uint32_t i = 0; i < a->l->sets * slabs; i++) in[i] = VECTOR(float complex, buffers[i]);
  for (uint32_t i = 0; i < slabs; i++) potential[i] = VECTOR(float complex, buffers[i]);
  mesh_potential_x(a->l->mesh, a->column, in, potential,
                   VECTOR(double, buffers[a->l->sets * slabs]), a->l->fft[worker_number()]);
}

STAGE_ON_CPU(potential_x, 0x4444aa, "pm");

void potential_x_submit(struct long_range *l, uint32_t column) {
  const uint32_t slabs = l->mesh->slabs;
  struct starpu_data_descr *data = allocate((size_t)l->sets * slabs + 1, sizeof *data, "task data");
  size_t n = 0;
  for (uint32_t set = 0; set < l->sets; set++)
    for (uint32_t slab = 0; slab < slabs; slab++)
      data[n++] = (struct starpu_data_descr){block_of(l, density_row(l, set, slab, column)),
                                             set == 0 ? STARPU_RW : STARPU_R};
  data[n++] = (struct starpu_data_descr){l->potential_handle[column], STARPU_W};
  potential_x_insert((struct potential_x_argument){l, column},
                     (struct task){.data = data, .count = n, .priority = PRIORITY_HIGH});
  free(data);
}
