/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_share: what the next coarser level needs of the potential of a batch.
 *
 * reads  cells; densities of particles; potentials of the batch, its neighbours, and of the next
 *        coarser level; pseudo-mass; links on GPUs
 * writes shares */
#include <stdlib.h>

#include "codelets/potential/potentials.h"

struct gas_share_argument {
  struct batch_argument batch;
  double factor; /* gravity_factor() */
  bool massive;  /* with pseudo-mass */
  bool stress;   /* with stresses */
};
enum { SHARES, DENSITY }; /* density_slots(), then pseudo-mass, if there is any */

static double gas_share_work(const struct gas_share_argument *a) { return batch_work(&a->batch); }

static struct surroundings surroundings(const struct batch_argument *a) {
  return (struct surroundings){.gas = a->gas,
                               .level = a->level,
                               .batch = a->batch,
                               .near = true,
                               .coarse = true,
                               .weight = 1.0,
                               .which = POTENTIAL_END};
}

/** Of gravity_stress(). */
static double background(const struct gas_share_argument *a) {
  return 2.0 * a->factor * gravity_background(a->batch.gas);
}

static void gas_share_cpu(void *buffers[], const struct gas_share_argument *a) {
  const struct gas *g = a->batch.gas;
  const struct gas_batch *b = batch_of(&a->batch);
  const char **addresses;
  const struct surroundings around = surroundings(&a->batch);
  const size_t mass = DENSITY + density_slots_count(g);
  const struct potential_sources sources = surroundings_of(&around, buffers, mass + a->massive,
                                                           &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    double block[POISSON_CELLS], source[GAS_GROUP_CELLS];
    potential_block(&sources, b->first + i, block);
    g->gravity->kernels->source(nth(buffers[DENSITY], gas_group_bytes(g), i), a->factor,
                                gravity_background(g),
                                a->massive ? nth_potential(buffers[mass], i) : NULL, source);
    add_matter(g, buffers + DENSITY + 1, i, a->factor, source);
    struct poisson_share *share = VECTOR(struct poisson_share, buffers[SHARES]) + i;
    g->gravity->poisson->share(block, source, share);
    if (!a->stress) continue;
    double wide[WIDE_CELLS];
    potential_wide(&sources, b->first + i, wide);
    g->gravity->poisson->stress(wide, background(a), share);
  }
  free(addresses);
}

static void gas_share_gpu(struct gpu *gpu, void *buffers[], const struct gas_share_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct surroundings around = surroundings(&a->batch);
  const size_t mass = DENSITY + density_slots_count(a->batch.gas), first = mass + a->massive;
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(
      &around, buffers, first, first + surroundings_count(&around), &addresses);
  const struct gpu_density density = gpu_density_in(&a->batch, buffers + DENSITY,
                                                    a->massive ? buffers[mass] : NULL, a->factor);
  double *blocks = gpu_gas_potential_memory(&g, 1);
  gpu_gas_potential_blocks(&g, &from, blocks);
  gpu_gas_share(&g, &density, blocks, VECTOR(struct poisson_share, buffers[SHARES]));
  if (a->stress)
    gpu_gas_stress(&g, background(a), gpu_gas_potential_wide(&g, &from),
                   VECTOR(struct poisson_share, buffers[SHARES]));
  free(addresses);
}

STAGE(gas_share, 0xcc6677, "gas");

void gas_share_submit(struct gas *g, int level, uint32_t batch, bool massive, bool stress) {
  const struct gas_share_argument a = {
      {g, level, batch}, gravity_factor(g, level), massive, stress};
  const struct gas_batch *b = batch_of(&a.batch);
  const struct surroundings around = surroundings(&a.batch);
  struct slots slots = slots_of("gas_share", g, level, batch);
  slots_add(&slots, b->shares, STARPU_W);
  density_slots(&slots, g, level, batch);
  if (massive) slots_add(&slots, b->sheets, STARPU_R);
  surroundings_slots(&slots, &around);
  slots_add_links(&slots, b);
  gas_share_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
