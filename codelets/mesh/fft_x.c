/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_x: transforms a column of wave numbers along x, multiplies it by Green's function, and
 * transforms it back, with one result for each spectrum. (A tile is the part of a spectrum in one
 * slab and one column; identifiers say `block`.)
 *
 * updates the density's tiles, which become those of spectrum 0
 * writes  the tiles of the other spectra, and the column's sum of potentials */
#include <stdlib.h>

#include "codelets/runtime/task.h"
#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/error.h"
#include "photons/mesh/codelets.h"
#include "photons/runtime/message.h"
#include "photons/runtime/parts.h"

struct fft_x_argument {
  const struct long_range *l;
  uint32_t column;
};
/* Slots: the column's tiles, [set][spectrum][slab], of one set where sets share them, and its sum of potentials. */

static double fft_x_work(const struct fft_x_argument *a) {
  return (double)block_size(a->l->mesh, 0, a->column);
}

static uint32_t slots(const struct long_range *l) {
  return l->sets / block_sets(l) * l->mesh->spectra * l->mesh->slabs;
}

static void unwrap(void *buffers[], const struct fft_x_argument *a, const float complex **in,
                   float complex **out) {
  const struct long_range *l = a->l;
  const uint32_t slabs = l->mesh->slabs, each = l->mesh->spectra * slabs;
  for (uint32_t i = 0; i < l->sets * each; i++)
    out[i] = VECTOR(float complex, buffers[i % slots(l)]) +
             block_at(l, i / each, i % slabs, a->column);
  for (uint32_t set = 0; set < l->sets; set++)
    for (uint32_t slab = 0; slab < slabs; slab++)
      in[set * slabs + slab] = out[set * l->mesh->spectra * slabs + slab];
}

/** A task on a core in parts, one for each ky. */
struct fft_x_parts {
  const struct fft_x_argument *a;
  const float complex *const *in;
  float complex *const *out;
  double *energy;
};

static void fft_x_part(void *context, uint32_t i) {
  const struct fft_x_parts *p = context;
  const struct long_range *l = p->a->l;
  const uint32_t ky = column_first(l->mesh, p->a->column) + i;
  mesh_fft_x(l->mesh, p->a->column, (struct mesh_range){ky, ky + 1}, p->in, p->out, p->energy,
             l->fft[worker_number()]);
}

static void fft_x_cpu(void *buffers[], const struct fft_x_argument *a) {
  float complex *out[a->l->sets * a->l->mesh->spectra * a->l->mesh->slabs];
  const float complex *in[a->l->sets * a->l->mesh->slabs];
  unwrap(buffers, a, in, out);
  const struct mesh_range kys = column_kys(a->l->mesh, a->column);
  parts_run(kys.end - kys.first, fft_x_part,
            &(struct fft_x_parts){a, in, out, VECTOR(double, buffers[slots(a->l)])});
}

static void fft_x_gpu(struct gpu *gpu, void *buffers[], const struct fft_x_argument *a) {
  (void)gpu;
  float complex *out[a->l->sets * a->l->mesh->spectra * a->l->mesh->slabs];
  const float complex *in[a->l->sets * a->l->mesh->slabs];
  unwrap(buffers, a, in, out);
  gpu_fft_x(a->l->gpu[worker_number()], a->column, in, out, VECTOR(double, buffers[slots(a->l)]));
}

STAGE(fft_x, 0x4444aa, "pm");

void fft_x_submit(struct long_range *l, uint32_t column) {
  const struct mesh *m = l->mesh;
  struct starpu_data_descr *data = allocate(slots(l) + 1, sizeof *data, "task data");
  size_t n = 0;
  for (uint32_t set = 0; set < l->sets; set += block_sets(l))
    for (uint32_t spectrum = 0; spectrum < m->spectra; spectrum++)
      for (uint32_t slab = 0; slab < m->slabs; slab++)
        data[n++] = (struct starpu_data_descr){
            block_of(l, block_row(l, set, spectrum, slab, column)),
            spectrum == 0 ? STARPU_RW : STARPU_W};
  data[n++] = (struct starpu_data_descr){l->potential_handle[column], STARPU_W};
  fft_x_insert((struct fft_x_argument){l, column},
               (struct task){.data = data, .count = n, .priority = PRIORITY_HIGH});
  free(data);
}

/** Slabs of whose blocks in a column this rank has one end. */
static struct mesh_range slabs_met(const struct long_range *l, uint32_t column) {
  return in_range(&l->own_columns, column) ? (struct mesh_range){0, l->mesh->slabs} : l->own_slabs;
}

void densities_transfer(struct long_range *l) {
  const struct mesh *m = l->mesh;
  if (comm_size() == 1) return;
  for (uint32_t set = 0; set < l->sets; set += block_sets(l))
    for (uint32_t column = 0; column < m->columns; column++) {
      const struct mesh_range met = slabs_met(l, column);
      for (uint32_t slab = met.first; slab < met.end; slab++)
        message_transfer(block_of(l, density_row(l, set, slab, column)), MESSAGE_BLOCK,
                         block_row(l, set, 0, slab, column), slab_owner(m, slab),
                         column_owner(m, column), PRIORITY_HIGH);
    }
}

void spectra_transfer(struct long_range *l, uint32_t set) {
  const struct mesh *m = l->mesh;
  if (comm_size() == 1 || set % block_sets(l) > 0) return;
  for (uint32_t spectrum = 0; spectrum < m->spectra; spectrum++)
    for (uint32_t column = 0; column < m->columns; column++) {
      const struct mesh_range met = slabs_met(l, column);
      for (uint32_t slab = met.first; slab < met.end; slab++)
        message_transfer(block_of(l, spectrum_row(l, set, spectrum, slab, column)), MESSAGE_BLOCK,
                         block_row(l, set, spectrum, slab, column), column_owner(m, column),
                         slab_owner(m, slab), PRIORITY_HIGH);
    }
}
