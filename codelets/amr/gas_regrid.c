/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_regrid: gives the groups of a new batch their cells, from where they were before or by
 * interpolation.
 *
 * reads  cells of the old batches; where groups are interpolated, cells of the next coarser level,
 *        and links on GPUs
 * writes cells */
#include <stdlib.h>
#include <string.h>

#include "codelets/amr/batches.h"
#include "photons/amr/codelets.h"

struct gas_regrid_argument {
  struct batch_argument a;
  const struct gas_moves *moves;
};
enum { CELLS, OLD };

static double gas_regrid_work(const struct gas_regrid_argument *a) { return batch_work(&a->a); }

/** Whether groups are to be interpolated. */
static bool interpolates(const struct gas_moves *m, uint32_t groups) {
  for (uint32_t i = 0; i < groups; i++)
    if (m->move[i].data == NO_GROUP) return true;
  return false;
}

static void gas_regrid_cpu(void *buffers[], const struct gas_regrid_argument *a) {
  const struct gas *g = a->a.gas;
  const struct gas_moves *m = a->moves;
  const struct gas_batch *b = batch_of(&a->a);
  const struct topology *t = &g->topology;
  const bool interpolate = interpolates(m, b->count);
  const char **coarse = slots_addresses(buffers, OLD + m->count, interpolate ? b->coarse.count : 0);
  const struct block_sources sources = {
      .gas = g, .level = a->a.level, .coarse = {&b->coarse, coarse}, .weight = 1.0};
  char *block = gas_scratch(g) + g->scheme.kernels->scratch_bytes;
  const size_t bytes = gas_group_bytes(g);
  for (uint32_t i = 0; i < b->count; i++) {
    const struct gas_move from = m->move[i];
    const uint32_t group = b->first + i;
    void *cells = nth(buffers[CELLS], bytes, i);
    if (from.data == NO_GROUP)
      block_refine(&sources, topology_group(t, a->a.level, group)->father,
                   topology_patch(t, a->a.level, group), block, cells);
    else
      memcpy(cells, nth(buffers[OLD + from.data], bytes, from.group), bytes);
  }
  free(coarse);
}

static void gas_regrid_gpu(struct gpu *gpu, void *buffers[], const struct gas_regrid_argument *a) {
  const struct gas_moves *m = a->moves;
  const struct gas_batch *b = batch_of(&a->a);
  const bool interpolate = interpolates(m, b->count);
  const uint32_t coarse = interpolate ? b->coarse.count : 0;
  const char **cells = slots_addresses(buffers, OLD, m->count + coarse);
  const struct gpu_gas g = gpu_gas_of(gpu, &a->a);
  struct gpu_sources sources = gpu_sources_of(
      &a->a, cells + m->count, 1.0,
      interpolate ? VECTOR(const struct gas_links, buffers[OLD + m->count + coarse]) : NULL);
  sources.near = 0;
  sources.coarse = coarse;
  gpu_gas_regrid(&g, &sources, cells, m->count, m->move, VECTOR(void, buffers[CELLS]));
  free(cells);
}

STAGE(gas_regrid, 0x999933, "gas");

void gas_regrid_submit(struct gas *g, int level, uint32_t batch, const struct gas_moves *moves) {
  const struct batch_argument a = {g, level, batch};
  const struct gas_batch *b = batch_of(&a);
  struct slots slots = slots_of("gas_regrid", g, level, batch);
  slots_add(&slots, b->handle[g->level[level].now], STARPU_W);
  for (uint32_t i = 0; i < moves->count; i++) slots_add(&slots, moves->data[i], STARPU_R);
  if (interpolates(moves, b->count)) {
    slots_require(&slots, !g->level[level - 1].stale, "ghost cells", level - 1);
    slots_add_list(&slots, g, level - 1, &b->coarse, true);
    slots_add_links(&slots, b);
  }
  gas_regrid_insert((struct gas_regrid_argument){a, moves}, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
