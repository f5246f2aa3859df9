/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_yz: the planes of a slab transformed and scattered to the blocks of all columns. Reads the slab; writes its blocks. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

static void fft_yz_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  float complex *blocks[m->columns];
  for (uint32_t c = 0; c < m->columns; c++) blocks[c] = VECTOR(float complex, buffers[1 + c]);
  mesh_fft_yz(m, a->slab, VECTOR(float, buffers[0]), blocks, task_worker(a)->fft);
}

#ifdef PHOTONS_CUDA
static void fft_yz_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  float complex *blocks[m->columns];
  for (uint32_t c = 0; c < m->columns; c++) blocks[c] = VECTOR(float complex, buffers[1 + c]);
  gpu_fft_yz(task_worker(a)->gpu, a->slab, VECTOR(float, buffers[0]), blocks);
}
#endif

PHOTONS_CODELET(fft_yz, 0x332288, block_size(a->simulation->mesh, a->slab, 0));

void fft_yz_submit(struct simulation *s, uint32_t set, uint32_t slab) {
  struct starpu_data_descr *data = allocate(s->mesh->columns + 1, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){s->slab_handle[slab_index(s, set, 0, slab)],
                                       STARPU_RW}; /* scratch of the transform */
  for (uint32_t c = 0; c < s->mesh->columns; c++)
    data[1 + c] = (struct starpu_data_descr){s->block_handle[block_index(s, set, 0, slab, c)], STARPU_W};
  task_submit(&fft_yz_codelet, (struct task_argument){.simulation = s, .set = set, .slab = slab}, data,
              s->mesh->columns + 1, PRIORITY_MESH);
  free(data);
}
