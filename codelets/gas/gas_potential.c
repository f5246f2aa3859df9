/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_potential: the potential of the groups of a batch of a level finer than the root.
 *
 * reads  cells; potentials of the next coarser level, and of this level's neighbours if these are to
 *        be used; pseudo-mass
 * writes potential, and its slopes on the groups' sides */
#include <math.h>
#include <stdlib.h>

#include "codelets/gas/potentials.h"

#define PI 3.14159265358979323846

struct gas_potential_argument {
  struct gas *gas;
  int level;
  uint32_t batch;
  struct potential_task how;
};
enum { POTENTIAL, SLOPES, CELLS, OTHERS };

static struct gas_batch *my_batch(const struct gas_potential_argument *a) {
  return &a->gas->level[a->level].batch[a->batch];
}

static double gas_potential_work(const struct gas_potential_argument *a) {
  return my_batch(a)->count;
}

/** Whether the batch has pseudo-mass. */
static bool has_sheets(const struct gas_potential_argument *a) {
  return a->how.massive && my_batch(a)->fine.count > 0;
}

static struct surroundings surroundings(const struct gas_potential_argument *a) {
  return (struct surroundings){a->gas, a->level, a->batch, a->how.relax, true, a->how.weight};
}

static void gas_potential_cpu(void *buffers[], const struct gas_potential_argument *a) {
  enum { SLOPES_OF_GROUP = GAS_FACES * GAS_FACE_CELLS * sizeof(double) };
  const struct gas *g = a->gas;
  const struct self_gravity *s = g->gravity;
  const bool sheets = has_sheets(a);
  const double factor = 4.0 * PI * s->newton_constant * pow(gas_cell(g, a->level), 2.0);
  const double least = factor * s->mean_density * GAS_GROUP_CELLS;
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const struct potential_sources sources = surroundings_of(&around, buffers, OTHERS + sheets,
                                                           &addresses);
  for (uint32_t i = 0; i < my_batch(a)->count; i++) {
    double block[POISSON_CELLS], source[GAS_GROUP_CELLS];
    potential_block(&sources, my_batch(a)->first + i, block);
    const double sum = s->kernels->source(nth(buffers[CELLS], gas_group_bytes(g), i), factor,
                                          s->periodic ? s->mean_density : 0.0,
                                          sheets ? nth_potential(buffers[OTHERS], i) : NULL,
                                          source);
    s->poisson->solve(source, s->tolerance * fmax(sum, least),
                      POISSON_SWEEPS_MAX, block);
    s->poisson->slopes(block, nth(buffers[SLOPES], SLOPES_OF_GROUP, i));
    potential_inner(block, nth_potential(buffers[POTENTIAL], i));
  }
  free(addresses);
}

STAGE_ON_CPU(gas_potential, 0x332288, "gas");

void gas_potential_submit(struct gas *g, int level, uint32_t batch, struct potential_task how) {
  const struct gas_potential_argument a = {g, level, batch, how};
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = my_batch(&a);
  const struct surroundings around = surroundings(&a);
  struct slots slots = {0};
  slots_add(&slots,
            potential_handle(g, level, batch, how.relax ? POTENTIAL_NEXT : POTENTIAL_END),
            STARPU_W);
  slots_add(&slots, b->slopes, STARPU_W);
  slots_add(&slots, b->handle[l->now], STARPU_R);
  if (has_sheets(&a)) slots_add(&slots, b->sheets, STARPU_R);
  surroundings_slots(&slots, &around);
  gas_potential_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
