/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_advance: gas_prepare, gas_solve and gas_close in one task, whose blocks no other task sees.
 *
 * reads   cells of the groups and of their neighbours, of their level and of the next coarser one;
 *         links on GPUs
 * writes  cells at the end of the step, fluxes, gas_level.fault
 * updates fluxes through the sides of the groups, below the root level */
#include <stdlib.h>
#include <string.h>

#include "codelets/hydro/faces.h"
#include "photons/hydro/codelets.h"
#include "photons/runtime/parts.h"

struct gas_advance_argument {
  struct batch_argument a;
  double dt;
  bool reversed;       /* sweeps: z y x */
  double begin, share; /* of the step, in that of the next coarser level */
  double least_heat;   /* of gas_physics, at the end of the step */
};
enum { CELLS, FLUXES, OPTIONAL };

static double gas_advance_work(const struct gas_advance_argument *a) { return batch_work(&a->a); }

/** Gas that does not attract itself has no slot for mass fluxes, the root level none for sides. */
static size_t sides_slot(const struct batch_argument *a) {
  return OPTIONAL + (a->gas->gravity != NULL);
}
static size_t first_source(const struct batch_argument *a) {
  return sides_slot(a) + (a->level > 0);
}

/** A task in parts: the groups of its batch. */
struct advance_parts {
  void **buffers;
  const struct gas_advance_argument *a;
  struct block_sources sources;
};

static void advance_group(void *context, uint32_t i) {
  const struct advance_parts *p = context;
  const struct gas_advance_argument *a = p->a;
  const struct gas *g = a->a.gas;
  void **buffers = p->buffers;
  char *scratch = gas_scratch(g), *block = scratch + g->scheme.kernels->scratch_bytes;
  void *fluxes = nth(buffers[FLUXES], gas_fluxes_bytes(g), i);
  const struct gas_physics physics = physics_of(g, a->least_heat);
  struct gas_fault fault;
  block_fill(&p->sources, batch_of(&a->a)->first + i, block);
  g->scheme.kernels->solve(&physics, a->dt / gas_cell(g, a->a.level), a->reversed, block,
                           nth(buffers[CELLS], gas_group_bytes(g), i), fluxes,
                           g->gravity ? nth(buffers[OPTIONAL], gas_mass_bytes(g), i) : NULL,
                           scratch, &fault);
  note_fault(&a->a, i, &fault);
  if (a->a.level == 0) return;
  void *sides = nth(buffers[sides_slot(&a->a)], gas_sides_bytes(g), i);
  if (a->begin == 0.0) memset(sides, 0, gas_sides_bytes(g));
  g->scheme.kernels->flux_add(g->scheme.variables, fluxes, a->share, sides);
}

static void gas_advance_cpu(void *buffers[], const struct gas_advance_argument *a) {
  const struct gas_batch *b = batch_of(&a->a);
  const char **cells = slots_addresses(buffers, first_source(&a->a), source_slots(b, a->begin));
  struct advance_parts p = {buffers, a, block_sources_of(&a->a, cells, a->begin)};
  parts_run(b->count, advance_group, &p);
  free(cells);
}

static void gas_advance_gpu(struct gpu *gpu, void *buffers[],
                            const struct gas_advance_argument *a) {
  const struct gas *gas = a->a.gas;
  const struct gas_batch *b = batch_of(&a->a);
  const size_t first = first_source(&a->a), links = first + source_slots(b, a->begin);
  const char **cells = slots_addresses(buffers, first, links - first);
  const struct gpu_gas g = gpu_gas_closing(gpu, &a->a, a->least_heat);
  const struct gpu_sources sources = gpu_sources_of(&a->a, cells, a->begin,
                                                    VECTOR(const struct gas_links, buffers[links]));
  void *blocks = gpu_gas_blocks(&g), *fluxes = VECTOR(void, buffers[FLUXES]);
  struct heat_range *heat = gpu_gas_heat(&g);
  gpu_gas_prepare(&g, &sources, blocks, heat);
  gpu_gas_solve(&g, a->dt / gas_cell(gas, a->a.level), a->reversed, blocks, heat,
                VECTOR(void, buffers[CELLS]), fluxes, faces_kept(&a->a),
                gas->gravity ? VECTOR(void, buffers[OPTIONAL]) : NULL,
                gas->level[a->a.level].fault + own_of(&a->a));
  if (a->a.level > 0)
    gpu_gas_close(&g, a->share, a->begin == 0.0, fluxes, VECTOR(void, buffers[sides_slot(&a->a)]));
  free(cells);
}

STAGE(gas_advance, 0x4477aa, "gas");

void gas_advance_submit(struct gas *g, int level, uint32_t batch, double dt, double begin,
                        double share, double least_heat) {
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = gas_batch(g, level, batch);
  struct slots slots = slots_of("gas_advance", g, level, batch);
  slots_add(&slots, b->handle[1 - l->now], STARPU_W);
  slots_add(&slots, b->fluxes, STARPU_W);
  if (g->gravity) slots_add(&slots, b->mass, STARPU_W);
  if (level > 0) slots_add(&slots, b->sides, begin == 0.0 ? STARPU_W : STARPU_RW);
  slots_add_sources(&slots, g, level, b, begin);
  slots_add_links(&slots, b);
  gas_advance_insert(
      (struct gas_advance_argument){
          {g, level, batch}, dt, l->steps % 2 == 1, begin, share, least_heat},
      slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
