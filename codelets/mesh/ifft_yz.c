/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ifft_yz: the planes of one field in a slab, back in real space. Reads the slab's blocks; writes the slab. */
#include "photons/base/error.h"
#include "codelets/runtime/task.h"

static void ifft_yz_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  const float complex *blocks[m->columns];
  for (uint32_t c = 0; c < m->columns; c++) blocks[c] = VECTOR(const float complex, buffers[1 + c]);
  mesh_ifft_yz(m, a->slab, a->field, blocks, VECTOR(float, buffers[0]), task_worker(a)->fft);
}

#ifdef PHOTONS_CUDA
static void ifft_yz_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  const struct mesh *m = a->simulation->mesh;
  const float complex *blocks[m->columns];
  for (uint32_t c = 0; c < m->columns; c++) blocks[c] = VECTOR(const float complex, buffers[1 + c]);
  gpu_ifft_yz(task_worker(a)->gpu, a->slab, a->field, blocks, VECTOR(float, buffers[0]));
}
#endif

PHOTONS_CODELET(ifft_yz, 0x6666cc, block_size(a->simulation->mesh, a->slab, 0));

void ifft_yz_submit(struct simulation *s, uint32_t set, uint32_t field, uint32_t slab) {
  struct starpu_data_descr *data = allocate(s->mesh->columns + 1, sizeof *data, "task data");
  data[0] = (struct starpu_data_descr){s->slab_handle[slab_index(s, set, field, slab)], STARPU_W};
  for (uint32_t c = 0; c < s->mesh->columns; c++)
    data[1 + c] = (struct starpu_data_descr){s->block_handle[block_index(s, set, spectrum_of_field(field), slab, c)],
                                             STARPU_R};
  task_submit(&ifft_yz_codelet, (struct task_argument){.simulation = s, .set = set, .field = field, .slab = slab}, data,
              s->mesh->columns + 1, PRIORITY_MESH);
  free(data);
}
