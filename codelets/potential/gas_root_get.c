/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_get: copies the potential of a batch of the root level from the slabs that have its planes.
 *
 * reads  slabs of this rank, what other ranks' slabs have (gas_root_lend), links
 * writes potential */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"

struct gas_root_get_argument {
  struct batch_argument batch;
  const struct root_gpu *root;
};
enum { POTENTIAL, LINKS, SOURCES };

static double gas_root_get_work(const struct gas_root_get_argument *a) {
  return batch_work(&a->batch);
}

/** Planes of all slabs of a rank. */
static struct gpu_root_planes planes_of_rank(const struct root_gpu *r, int rank) {
  const uint32_t first = (uint32_t)rank * r->homes;
  return (struct gpu_root_planes){root_planes(r, first).first,
                                  root_planes(r, first + r->homes - 1).end};
}

static void gas_root_get_gpu(struct gpu *gpu, void *buffers[],
                             const struct gas_root_get_argument *a) {
  const struct root_gpu *r = a->root;
  const uint32_t batch = a->batch.batch;
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct gas_links *links = VECTOR(const struct gas_links, buffers[LINKS]);
  double *potentials = VECTOR(double, buffers[POTENTIAL]);
  uint32_t slot = SOURCES;
  for (uint32_t part = r->first; part < r->first + r->homes; part++)
    if (root_slab_has(r, part, batch))
      gpu_root_get(r->worker[worker_number()], &g, root_planes(r, part), links,
                   VECTOR(const double, buffers[slot++]), potentials);
  for (uint32_t k = 0; k < r->aways; k++)
    if (r->away[k].batch == batch)
      gpu_root_take(&g, planes_of_rank(r, r->away[k].rank), links,
                    VECTOR(const double, buffers[slot++]), potentials);
}

STAGE_ON_GPU(gas_root_get, 0x5599aa, "gas");

void gas_root_get_submit(struct gas *g, const struct root_gpu *r, uint32_t batch) {
  struct slots slots = slots_of("gas_root_get", g, 0, batch);
  slots_add(&slots, potential_handle(g, 0, batch, POTENTIAL_END), STARPU_W);
  slots_add_links(&slots, gas_batch(g, 0, batch));
  for (uint32_t part = r->first; part < r->first + r->homes; part++)
    if (root_slab_has(r, part, batch)) slots_add(&slots, r->slab[part - r->first], STARPU_R);
  for (uint32_t k = 0; k < r->aways; k++)
    if (r->away[k].batch == batch) slots_add(&slots, r->away[k].cubes, STARPU_R);
  gas_root_get_insert((struct gas_root_get_argument){{g, 0, batch}, r},
                      slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
