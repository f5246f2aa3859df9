/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_fix: replaces the fluxes of a level by those of the next finer one, where a patch that is not
 * refined has a refined neighbour. Then refined patches get the means of the finer cells, as gas_restrict
 * gives them these.
 *
 * reads   fluxes; fluxes through the sides of finer groups; finer cells; links on GPUs
 * updates cells */
#include <stdlib.h>

#include "codelets/hydro/restrict.h"
#include "cuda/hydro/gpu_hydro.h"
#include "photons/hydro/codelets.h"

struct gas_fix_argument {
  struct batch_argument a;
  double dt;
  double least_heat; /* of gas_physics, at the end of the step */
};
enum { CELLS, FLUXES, SIDES };

static double gas_fix_work(const struct gas_fix_argument *a) { return batch_work(&a->a); }

/** The finer fluxes through a face of a patch that is not refined; NULL: its neighbour is not
 * refined, either. */
static const char *finer_flux(void *buffers[], const struct batch_argument *a, uint32_t group,
                              int patch, int face) {
  const struct gas *g = a->gas;
  const struct batch_list *fine = &batch_of(a)->fine;
  const uint32_t son = topology_finer_neighbour(&g->topology, a->level, group, patch,
                                                topology_across(face));
  if (son == NO_GROUP) return NULL;
  uint32_t i = 0;
  while (fine->batch[i] != son / fine->groups) i++;
  const char *sides = nth(buffers[SIDES + i], gas_sides_bytes(g), son % fine->groups);
  return sides + (size_t)(face ^ 1) * (gas_sides_bytes(g) / GAS_FACES);
}

static void fix_patch(void *buffers[], const struct gas_fix_argument *argument, uint32_t i,
                      int patch) {
  const struct batch_argument *a = &argument->a;
  const struct gas *g = a->gas;
  const struct gas_physics physics = physics_of(g, argument->least_heat);
  const size_t face_bytes = gas_sides_bytes(g) / GAS_FACES;
  const char *fluxes = nth(buffers[FLUXES], gas_fluxes_bytes(g), i);
  for (int face = 0; face < GAS_FACES; face++) {
    const char *finer = finer_flux(buffers, a, batch_of(a)->first + i, patch, face);
    if (finer)
      g->scheme.kernels->flux_fix(&physics, argument->dt / gas_cell(g, a->level), face,
                                  fluxes + (size_t)(patch * GAS_FACES + face) * face_bytes, finer,
                                  nth(buffers[CELLS], gas_group_bytes(g), i), patch);
  }
}

static void gas_fix_cpu(void *buffers[], const struct gas_fix_argument *a) {
  const struct gas_batch *b = batch_of(&a->a);
  const struct gas_group *group = topology_group(&a->a.gas->topology, a->a.level, b->first);
  for (uint32_t i = 0; i < b->count; i++)
    for (int p = 0; p < GAS_PATCHES; p++)
      if (group[i].son[p] == NO_GROUP) fix_patch(buffers, a, i, p);
  restrict_batch_cpu(&a->a, buffers[CELLS], buffers + SIDES + b->fine.count);
}

static void gas_fix_gpu(struct gpu *gpu, void *buffers[], const struct gas_fix_argument *argument) {
  const struct batch_argument *a = &argument->a;
  const uint32_t fine = batch_of(a)->fine.count, sons = batch_of(a)->sons.count;
  void *links = buffers[SIDES + fine + sons];
  const char **sides = slots_addresses(buffers, SIDES, fine);
  const struct gpu_gas g = gpu_gas_closing(gpu, a, argument->least_heat);
  gpu_gas_fix(&g, argument->dt / gas_cell(a->gas, a->level), VECTOR(const struct gas_links, links),
              sides, fine, VECTOR(void, buffers[FLUXES]), VECTOR(void, buffers[CELLS]));
  free(sides);
  if (sons > 0) restrict_batch_gpu(gpu, a, buffers[CELLS], buffers + SIDES + fine, links);
}

STAGE(gas_fix, 0xcc6677, "gas");

void gas_fix_submit(struct gas *g, int level, uint32_t batch, double dt, double least_heat) {
  const struct gas_fix_argument a = {{g, level, batch}, dt, least_heat};
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = batch_of(&a.a);
  struct slots slots = slots_of("gas_fix", g, level, batch);
  slots_add(&slots, b->handle[l->now], STARPU_RW);
  slots_add(&slots, b->fluxes, STARPU_R);
  for (uint32_t i = 0; i < b->fine.count; i++)
    slots_add(&slots, slots_seen(&slots, level + 1, b->fine.batch[i])->sides, STARPU_R);
  slots_add_list(&slots, g, level + 1, &b->sons, true);
  slots_add_links(&slots, b);
  gas_fix_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
