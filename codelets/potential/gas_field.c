/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_field: energy in the potential, and the largest acceleration, of each group of a batch.
 *
 * reads  cells; densities of particles; potentials of the batch, its neighbours, and of the next
 *        coarser level; links on GPUs
 * writes gas_level.field */
#include <math.h>
#include <stdlib.h>

#include "codelets/potential/potentials.h"
#include "photons/amr/matter.h"

#define gas_field_argument batch_argument
enum { CELLS, OTHERS };

static double gas_field_work(const struct batch_argument *a) { return batch_work(a); }

static struct surroundings surroundings(const struct batch_argument *a) {
  return (struct surroundings){.gas = a->gas,
                               .level = a->level,
                               .batch = a->batch,
                               .near = true,
                               .coarse = true,
                               .weight = 1.0,
                               .which = POTENTIAL_END};
}

/** Sum of density times potential / 2 of particles in a patch. */
static double energy_of_matter(const struct gas_matter *m, int patch, const double *block) {
  double sum = 0.0;
  for (int i = 0; i < GAS_PATCH_CELLS; i++) {
    int in_block = 0, in_cube = 0;
    for (int c = 2; c >= 0; c--) {
      const int cell = GAS_PATCH_SIDE * (patch >> c & 1) + (i >> 3 * c & 7);
      in_block = POISSON_SIDE * in_block + 1 + cell;
      in_cube = GAS_GROUP_SIDE * in_cube + cell;
    }
    sum += 0.5 * block[in_block] * matter_density(m, (size_t)in_cube);
  }
  return sum;
}

/** Energy and acceleration of a group. @param m  may be NULL */
static struct gas_field measure(const struct gas *g, int level, uint32_t group, const void *cells,
                                const struct gas_matter *m, const double *block) {
  struct gas_field field = {0};
  for (unsigned p = 0; p < GAS_PATCHES; p++) {
    double sum;
    const double difference = g->gravity->kernels->measure(block, cells, p, &sum);
    field.acceleration = fmax(field.acceleration, difference / (2.0 * gas_cell(g, level)));
    if (topology_group(&g->topology, level, group)->son[p] != NO_GROUP) continue;
    field.energy += 0.5 * sum;
    if (m) field.energy += energy_of_matter(m, (int)p, block);
  }
  return field;
}

static void gas_field_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const struct potential_sources sources = surroundings_of(&around, buffers,
                                                           OTHERS + matter_slots(g), &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    const struct gas_matter *m = g->particles ? VECTOR(struct gas_matter, buffers[OTHERS]) + i
                                              : NULL;
    double block[POISSON_CELLS];
    potential_block(&sources, b->first + i, block);
    g->level[a->level].field[own_of(a) + i] = measure(
        g, a->level, b->first + i, nth(buffers[CELLS], gas_group_bytes(g), i), m, block);
  }
  free(addresses);
}

static void gas_field_gpu(struct gpu *gpu, void *buffers[], const struct batch_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  const struct surroundings around = surroundings(a);
  const size_t first = OTHERS + matter_slots(a->gas);
  const char **addresses;
  const struct gpu_potentials from = gpu_potentials_of(
      &around, buffers, first, first + surroundings_count(&around), &addresses);
  const struct gpu_density density = gpu_density_of(a->gas, buffers[CELLS], NULL, buffers[OTHERS],
                                                    1.0);
  double *blocks = gpu_gas_potential_memory(&g, 1);
  gpu_gas_potential_blocks(&g, &from, blocks);
  gpu_gas_field(&g, from.links, gas_cell(a->gas, a->level), blocks, &density,
                a->gas->level[a->level].field + own_of(a));
  free(addresses);
}

STAGE(gas_field, 0xeedd88, "gas");

void gas_field_submit(struct gas *g, int level, uint32_t batch) {
  const struct batch_argument a = {g, level, batch};
  const struct gas_level *l = &g->level[level];
  const struct surroundings around = surroundings(&a);
  struct slots slots = slots_of("gas_field", g, level, batch);
  slots_add(&slots, gas_batch(g, level, batch)->handle[l->now], STARPU_R);
  matter_slot(&slots, g, level, batch);
  surroundings_slots(&slots, &around);
  slots_add_links(&slots, gas_batch(g, level, batch));
  gas_field_insert(a, slots_task(&slots, PRIORITY_LOW));
  free(slots.data);
}
