/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_collect: densities of particles of finer levels, in refined patches of a batch.
 *
 * reads   densities of the next finer level
 * updates densities */
#include <stdlib.h>

#include "codelets/gas/batches.h"
#include "photons/gas/particles.h"

#define gas_collect_argument batch_argument
enum { MATTER, FINE };

static double gas_collect_work(const struct batch_argument *a) { return batch_work(a); }

/** Means of 2^3 cells of the group that refines a patch. */
static void collect(const struct gas_matter *fine, int patch, double *density) {
  enum { SIDE = GAS_GROUP_SIDE };
  for (int i = 0; i < GAS_PATCH_CELLS; i++) {
    const int x = i & 7, y = i >> 3 & 7, z = i >> 6;
    double sum = 0.0;
    for (int k = 0; k < 8; k++) {
      const int at = ((2 * z + (k >> 2)) * SIDE + 2 * y + (k >> 1 & 1)) * SIDE + 2 * x + (k & 1);
      sum += fine->own[at] + fine->fine[at];
    }
    density[((z + 8 * (patch >> 2)) * SIDE + y + 8 * (patch >> 1 & 1)) * SIDE + x +
            8 * (patch & 1)] = 0.125 * sum;
  }
}

static void gas_collect_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  const char **address = slots_addresses(buffers, FINE, b->sons.count);
  const struct batch_cells sons = {&b->sons, address};
  for (uint32_t i = 0; i < b->count; i++)
    for (int p = 0; p < GAS_PATCHES; p++) {
      const uint32_t son = g->topology.level[a->level].group[b->first + i].son[p];
      struct gas_matter *m = VECTOR(struct gas_matter, buffers[MATTER]) + i;
      if (son != NO_GROUP) collect(matter_of(g, &sons, son), p, m->fine);
    }
  free(address);
}

STAGE_ON_CPU(gas_collect, 0xaa8855, "gas");

void gas_collect_submit(struct gas *g, int level, uint32_t batch) {
  const struct batch_argument a = {g, level, batch, 0.0, false};
  const struct gas_batch *b = batch_of(&a);
  struct slots slots = {0};
  slots_add(&slots, b->matter, STARPU_RW);
  for (uint32_t i = 0; i < b->sons.count; i++)
    slots_add(&slots, g->level[level + 1].batch[b->sons.batch[i]].matter, STARPU_R);
  gas_collect_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
