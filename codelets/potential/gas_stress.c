/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_stress: adds what the stress of gravity on the sides of groups does in a kick to its time integral over a step
 * of the next coarser level. The last kick tells that level what is left for its own second kick.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level, where the stress is to be found;
 *         links on GPUs
 * updates shares, sums of stresses */
#include <stdlib.h>

#include "codelets/potential/potentials.h"

struct gas_stress_argument {
  struct batch_argument batch;
  struct stress_kick kick;
  double
      weight; /* of the time of the level within the coarser one's step; below 0: the stress is known */
  double factor; /* gravity_factor() */
};
enum { SUMS, SHARES, POTENTIALS_AROUND };

static double gas_stress_work(const struct gas_stress_argument *a) { return batch_work(&a->batch); }

/** Of gravity_stress(). The mean density is that of the time of the potentials that the task reads. */
static double background(const struct gas_stress_argument *a) {
  return 2.0 * a->factor * gravity_background(a->batch.gas);
}

static void find_stresses(void *buffers[], const struct gas_stress_argument *a,
                          struct poisson_share *share) {
  const struct gas_batch *b = batch_of(&a->batch);
  const char **addresses;
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const struct potential_sources sources = surroundings_of(&around, buffers, POTENTIALS_AROUND,
                                                           &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    double wide[WIDE_CELLS];
    potential_wide(&sources, b->first + i, wide);
    a->batch.gas->gravity->poisson->stress(wide, background(a), share + i);
  }
  free(addresses);
}

static void gas_stress_cpu(void *buffers[], const struct gas_stress_argument *a) {
  struct poisson_share *share = VECTOR(struct poisson_share, buffers[SHARES]);
  struct stress_sum *sums = VECTOR(struct stress_sum, buffers[SUMS]);
  if (a->weight >= 0.0) find_stresses(buffers, a, share);
  for (uint32_t i = 0; i < batch_of(&a->batch)->count; i++)
    a->batch.gas->gravity->poisson->sum_stress(a->kick, share + i, sums + i);
}

static void find_stresses_on_gpu(const struct gpu_gas *g, void *buffers[],
                                 const struct gas_stress_argument *a, struct poisson_share *share) {
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(
      &around, buffers, POTENTIALS_AROUND, POTENTIALS_AROUND + surroundings_count(&around),
      &addresses);
  gpu_gas_stress(g, background(a), gpu_gas_potential_wide(g, &from), share);
  free(addresses);
}

static void gas_stress_gpu(struct gpu *gpu, void *buffers[], const struct gas_stress_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  struct poisson_share *share = VECTOR(struct poisson_share, buffers[SHARES]);
  if (a->weight >= 0.0) find_stresses_on_gpu(&g, buffers, a, share);
  gpu_gas_sum_stress(&g, &a->kick, share, VECTOR(struct stress_sum, buffers[SUMS]));
}

STAGE(gas_stress, 0xaa8877, "gas");

void gas_stress_submit(struct gas *g, int level, uint32_t batch, struct stress_kick kick,
                       double weight) {
  const struct gas_stress_argument a = {{g, level, batch}, kick, weight, gravity_factor(g, level)};
  const struct gas_batch *b = batch_of(&a.batch);
  const struct surroundings around = surroundings_of_kick(&a.batch, weight);
  struct slots slots = slots_of("gas_stress", g, level, batch);
  slots_add(&slots, b->stresses, kick.part == STRESS_FIRST ? STARPU_W : STARPU_RW);
  slots_add(&slots, b->shares, STARPU_RW);
  if (weight >= 0.0) {
    surroundings_slots(&slots, &around);
    slots_add_links(&slots, b);
  }
  gas_stress_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
