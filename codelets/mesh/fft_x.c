/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_x: a column of wave numbers transformed along x, multiplied by Green's function, and transformed back, one result a
 * spectrum. Updates the density's blocks (they become spectrum 0), writes those of the other. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

static void fft_x_unwrap(const struct simulation *s, void *buffers[], const float complex **in, float complex **out) {
  const struct mesh *m = s->mesh;
  for (uint32_t i = 0; i < s->sets * m->spectra * m->slabs; i++) out[i] = VECTOR(float complex, buffers[i]);
  for (uint32_t set = 0; set < s->sets; set++)
    for (uint32_t slab = 0; slab < m->slabs; slab++)
      in[set * m->slabs + slab] = VECTOR(const float complex, buffers[(set * m->spectra) * m->slabs + slab]);
}

static void fft_x_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  const struct mesh *m = s->mesh;
  float complex *out[s->sets * m->spectra * m->slabs];
  const float complex *in[s->sets * m->slabs];
  fft_x_unwrap(s, buffers, in, out);
  mesh_fft_x(m, a->column, in, out, task_worker(a)->fft);
}

#ifdef PHOTONS_CUDA
static void fft_x_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct simulation *s = a->simulation;
  float complex *out[s->sets * s->mesh->spectra * s->mesh->slabs];
  const float complex *in[s->sets * s->mesh->slabs];
  fft_x_unwrap(s, buffers, in, out);
  gpu_fft_x(task_worker(a)->gpu, a->column, in, out);
}
#endif

PHOTONS_CODELET(fft_x, 0x4444aa, block_size(a->simulation->mesh, 0, a->column));

void fft_x_submit(struct simulation *s, uint32_t column) {
  const struct mesh *m = s->mesh;
  struct starpu_data_descr *data = allocate((size_t)s->sets * m->spectra * m->slabs, sizeof *data, "task data");
  size_t n = 0;
  for (uint32_t set = 0; set < s->sets; set++)
    for (uint32_t spectrum = 0; spectrum < m->spectra; spectrum++)
      for (uint32_t slab = 0; slab < m->slabs; slab++)
        data[n++] = (struct starpu_data_descr){s->block_handle[block_index(s, set, spectrum, slab, column)],
                                               spectrum == 0 ? STARPU_RW : STARPU_W};
  task_submit(&fft_x_codelet, (struct task_argument){.simulation = s, .column = column}, data, n, PRIORITY_MESH);
  free(data);
}
