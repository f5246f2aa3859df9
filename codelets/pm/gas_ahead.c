/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_ahead: what densities of a level that is ahead of the finer ones change by the motion of these
 * levels' particles, on a GPU. On cores a loop over groups takes the place of this stage
 * (src/pm/particle_ahead.c).
 *
 * reads   particles of finer levels in the groups of the batch and near it, of this rank and of others;
 *         links
 * updates densities */
#include <stdlib.h>

#include "codelets/pm/clouds.h"
#include "photons/base/error.h"

struct gas_ahead_argument {
  struct batch_argument a;
  double time;                 /* for which the particles move on */
  struct cloud_tables *tables; /* which the task makes and frees */
};
enum { MATTER, PARTICLES };

static double gas_ahead_work(const struct gas_ahead_argument *a) { return batch_work(&a->a); }

static void gas_ahead_gpu(struct gpu *gpu, void *buffers[], const struct gas_ahead_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->a);
  const uint32_t batches = a->tables->clouds.batches;
  const char **batch = slots_addresses(buffers, PARTICLES, batches);
  clouds_find_below(a->tables, &a->a, batch);
  gpu_gas_move_on(&g, &a->tables->clouds,
                  VECTOR(const struct gas_links, buffers[PARTICLES + batches]), a->time,
                  VECTOR(struct gas_matter, buffers[MATTER]));
  free(batch);
  cloud_tables_free(a->tables);
  free(a->tables);
}

STAGE_ON_GPU(gas_ahead, 0x998866, "gas");

void gas_ahead_submit(struct gas *g, int level, uint32_t batch, double time,
                      const struct particle_level *foreign) {
  const struct batch_argument a = {g, level, batch};
  const struct gas_batch *b = batch_of(&a);
  struct cloud_tables *tables = allocate(1, sizeof *tables, "particles of groups");
  struct slots slots = slots_of("gas_ahead", g, level, batch);
  *tables = clouds_below(&a, foreign);
  if (tables->clouds.batches == 0) {
    cloud_tables_free(tables);
    free(tables);
    return;
  }
  slots_add(&slots, b->matter, STARPU_RW);
  for (uint32_t i = 0; i < tables->clouds.batches; i++) {
    const struct cloud_batch *from = &tables->batch[i];
    slots_add(&slots,
              from->level == CLOUD_FOREIGN
                  ? foreign->handle[0]
                  : particle_handle(&g->particles->level[from->level], from->batch),
              STARPU_R);
  }
  slots_add_links(&slots, b);
  for (int finer = level + 1; finer < topology_levels(&g->topology); finer++)
    slots_add(&slots, g->particles->level[finer].readers, STARPU_R);
  gas_ahead_insert((struct gas_ahead_argument){a, time, tables}, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
