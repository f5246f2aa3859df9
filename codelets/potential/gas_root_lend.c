/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_lend: copies the potential of a batch of another rank from this rank's slabs.
 *
 * reads  slabs of this rank that have planes of the batch, places of the batch's groups
 * writes the batch's potential in these planes */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"

struct gas_root_lend_argument {
  struct batch_argument batch;
  const struct root_gpu *root;
  struct gpu_root_planes planes; /* of the batch, which is another rank's */
};
enum { CUBES, LINKS, SLABS };

static double gas_root_lend_work(const struct gas_root_lend_argument *a) {
  return batch_work(&a->batch);
}

static void gas_root_lend_gpu(struct gpu *gpu, void *buffers[],
                              const struct gas_root_lend_argument *a) {
  const struct root_gpu *r = a->root;
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  uint32_t slot = SLABS;
  for (uint32_t part = r->first; part < r->first + r->homes; part++)
    if (root_slab_meets(r, part, a->planes))
      gpu_root_get(r->worker[worker_number()], &g, root_planes(r, part),
                   VECTOR(const struct gas_links, buffers[LINKS]),
                   VECTOR(const double, buffers[slot++]), VECTOR(double, buffers[CUBES]));
}

STAGE_ON_GPU(gas_root_lend, 0x44aa99, "gas");

void gas_root_lend_submit(struct gas *g, const struct root_gpu *r, const struct root_guest *guest) {
  struct slots slots = slots_of("gas_root_lend", g, 0, guest->batch);
  slots_add(&slots, guest->cubes, STARPU_W);
  slots_add(&slots, guest->links, STARPU_R);
  for (uint32_t part = r->first; part < r->first + r->homes; part++)
    if (root_slab_meets(r, part, guest->planes))
      slots_add(&slots, r->slab[part - r->first], STARPU_R);
  gas_root_lend_insert((struct gas_root_lend_argument){{g, 0, guest->batch}, r, guest->planes},
                       slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
