/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_get: copies the potential of a batch of the root level from the slabs that have its planes.
 *
 * reads  slabs, links
 * writes potential */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"

struct gas_root_get_argument {
  struct batch_argument batch;
  const struct root_gpu *root;
};
enum { POTENTIAL, LINKS, SLABS };

static double gas_root_get_work(const struct gas_root_get_argument *a) {
  return batch_work(&a->batch);
}

static void gas_root_get_gpu(struct gpu *gpu, void *buffers[],
                             const struct gas_root_get_argument *a) {
  const struct root_gpu *r = a->root;
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  for (uint32_t part = 0, slot = SLABS; part < r->parts; part++)
    if (root_slab_has(a->batch.gas, r, part, a->batch.batch))
      gpu_root_get(r->worker[worker_number()], &g, root_planes(r, part),
                   VECTOR(const struct gas_links, buffers[LINKS]),
                   VECTOR(const double, buffers[slot++]), VECTOR(double, buffers[POTENTIAL]));
}

STAGE_ON_GPU(gas_root_get, 0x5599aa, "gas");

void gas_root_get_submit(struct gas *g, const struct root_gpu *r, uint32_t batch) {
  struct slots slots = slots_of("gas_root_get", g, 0, batch);
  slots_add(&slots, potential_handle(g, 0, batch, POTENTIAL_END), STARPU_W);
  slots_add_links(&slots, &g->level[0].batch[batch]);
  for (uint32_t part = 0; part < r->parts; part++)
    if (root_slab_has(g, r, part, batch)) slots_add(&slots, r->slab[part], STARPU_R);
  gas_root_get_insert((struct gas_root_get_argument){{g, 0, batch}, r},
                      slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
