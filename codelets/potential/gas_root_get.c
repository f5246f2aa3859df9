/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_get: copies potentials of the root level from the slabs to the batches of a home.
 *
 * reads  slabs of this rank, what other ranks' slabs have (gas_root_lend), links
 * writes potentials */
#include <stdlib.h>

#include "codelets/potential/root_slabs.h"
#include "photons/base/error.h"

struct gas_root_get_argument {
  struct gas *gas;
  const struct root_gpu *root;
  uint32_t home;
};
/* Of each batch; then what other ranks' slabs have of it. Slabs follow the batches. */
enum { POTENTIAL, LINKS, AWAY };

/** The batches that the home gets: the first one, and that after the last one. */
static uint32_t first_batch(const struct gas_root_get_argument *a) {
  return gas_home_batch(a->gas, 0, a->home);
}
static uint32_t end_batch(const struct gas_root_get_argument *a) {
  return gas_home_batch(a->gas, 0, a->home + 1);
}

static double gas_root_get_work(const struct gas_root_get_argument *a) {
  return (end_batch(a) - first_batch(a)) * (double)a->gas->level[0].batch_groups;
}

/** Planes of all slabs of a rank. */
static struct gpu_root_planes planes_of_rank(const struct root_gpu *r, int rank) {
  const uint32_t first = (uint32_t)rank * r->homes;
  return (struct gpu_root_planes){root_planes(r, first).first,
                                  root_planes(r, first + r->homes - 1).end};
}

/** Whether a slab of this rank has planes of a batch that the home gets. */
static bool gets_slab(const struct gas_root_get_argument *a, uint32_t slab) {
  for (uint32_t i = first_batch(a); i < end_batch(a); i++)
    if (root_slab_has(a->root, a->root->first + slab, i)) return true;
  return false;
}

/** Slots of a batch. */
static size_t slots_of_batch(const struct root_gpu *r, uint32_t batch) {
  size_t count = AWAY;
  for (uint32_t k = 0; k < r->aways; k++) count += r->away[k].batch == batch;
  return count;
}

/** Copy a batch. @param buffers  of the batch @param slabs  of this rank's slabs; NULL: the home gets nothing of it */
static void get_batch(struct gpu *gpu, const struct gas_root_get_argument *a, uint32_t batch,
                      void *buffers[], void *slabs[]) {
  const struct root_gpu *r = a->root;
  const struct gpu_gas g = gpu_gas_of(gpu, &(struct batch_argument){a->gas, 0, batch});
  const struct gas_links *links = VECTOR(const struct gas_links, buffers[LINKS]);
  double *potentials = VECTOR(double, buffers[POTENTIAL]);
  size_t slot = AWAY;
  for (uint32_t i = 0; i < r->homes; i++)
    if (root_slab_has(r, r->first + i, batch))
      gpu_root_get(r->worker[worker_number()], &g, root_planes(r, r->first + i), links,
                   VECTOR(const double, slabs[i]), potentials);
  for (uint32_t k = 0; k < r->aways; k++)
    if (r->away[k].batch == batch)
      gpu_root_take(&g, planes_of_rank(r, r->away[k].rank), links,
                    VECTOR(const double, buffers[slot++]), potentials);
}

static void gas_root_get_gpu(struct gpu *gpu, void *buffers[],
                             const struct gas_root_get_argument *a) {
  void **slabs = allocate(a->root->homes, sizeof *slabs, "task data"), **next = buffers;
  for (uint32_t i = first_batch(a); i < end_batch(a); i++) next += slots_of_batch(a->root, i);
  for (uint32_t i = 0; i < a->root->homes; i++)
    if (gets_slab(a, i)) slabs[i] = *next++;
  next = buffers;
  for (uint32_t i = first_batch(a); i < end_batch(a); i++) {
    get_batch(gpu, a, i, next, slabs);
    next += slots_of_batch(a->root, i);
  }
  free(slabs);
}

STAGE_ON_GPU(gas_root_get, 0x5599aa, "gas");

void gas_root_get_submit(struct gas *g, const struct root_gpu *r, uint32_t home) {
  const struct gas_root_get_argument a = {g, r, home};
  struct slots slots = slots_of("gas_root_get", g, 0, first_batch(&a));
  for (uint32_t i = first_batch(&a); i < end_batch(&a); i++) {
    slots_add(&slots, potential_handle(g, 0, i, POTENTIAL_END), STARPU_W);
    slots_add_links(&slots, gas_batch(g, 0, i));
    for (uint32_t k = 0; k < r->aways; k++)
      if (r->away[k].batch == i) slots_add(&slots, r->away[k].cubes, STARPU_R);
  }
  for (uint32_t i = 0; i < r->homes; i++)
    if (gets_slab(&a, i)) slots_add(&slots, r->slab[i], STARPU_R);
  gas_root_get_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
