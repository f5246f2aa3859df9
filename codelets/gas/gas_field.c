/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_field: energy in the potential, and the largest acceleration, of each group of a batch.
 *
 * reads  cells; densities of particles; potentials of the batch, its neighbours, and of the next coarser level
 * writes gas_level.field */
#include <math.h>
#include <stdlib.h>

#include "codelets/gas/potentials.h"

#define gas_field_argument batch_argument
enum { CELLS, OTHERS };

static double gas_field_work(const struct batch_argument *a) { return batch_work(a); }

static struct surroundings surroundings(const struct batch_argument *a) {
  return (struct surroundings){a->gas, a->level, a->batch, true, true, 1.0, false, false};
}

/** One patch: adds to the energy and raises the acceleration times two cells.
 * @param density  [z 16][y 16][x 16] */
static void measure_patch(const double *density, int patch, bool refined, const double *block,
                          struct gas_field *field) {
  static const int step[3] = {1, POISSON_SIDE, POISSON_SIDE * POISSON_SIDE};
  for (int i = 0; i < GAS_PATCH_CELLS; i++) {
    const double *p = block;
    int at = 0;
    for (int c = 2; c >= 0; c--) {
      const int cell = GAS_PATCH_SIDE * (patch >> c & 1) + (i >> 3 * c & 7);
      p += step[c] * (1 + cell);
      at = GAS_GROUP_SIDE * at + cell;
    }
    for (int c = 0; c < 3; c++)
      field->acceleration = fmax(field->acceleration, fabs(p[step[c]] - p[-step[c]]));
    if (!refined) field->energy += 0.5 * p[0] * density[at];
  }
}

static void gas_field_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const struct potential_sources sources = surroundings_of(&around, buffers,
                                                           OTHERS + matter_slots(g), &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    struct gas_field field = {0};
    double block[POISSON_CELLS], density[GAS_GROUP_CELLS];
    g->gravity->kernels->source(nth(buffers[CELLS], gas_group_bytes(g), i), 1.0, 0.0, NULL,
                                density);
    add_matter(g, buffers + OTHERS, i, 1.0, density);
    potential_block(&sources, b->first + i, block);
    for (int p = 0; p < GAS_PATCHES; p++)
      measure_patch(density, p, g->topology.level[a->level].group[b->first + i].son[p] != NO_GROUP,
                    block, &field);
    field.acceleration /= 2.0 * gas_cell(g, a->level);
    g->level[a->level].field[b->first + i] = field;
  }
  free(addresses);
}

STAGE_ON_CPU(gas_field, 0xeedd88, "gas");

void gas_field_submit(struct gas *g, int level, uint32_t batch) {
  const struct batch_argument a = {g, level, batch, 0.0, false};
  const struct gas_level *l = &g->level[level];
  const struct surroundings around = surroundings(&a);
  struct slots slots = {0};
  slots_add(&slots, l->batch[batch].handle[l->now], STARPU_R);
  matter_slot(&slots, g, level, batch);
  surroundings_slots(&slots, &around);
  gas_field_insert(a, slots_task(&slots, PRIORITY_LOW));
  free(slots.data);
}
