/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_border: accelerates cells beside refined patches by what the stress of gravity on the faces between them differs
 * by, in the finer level and in this one.
 *
 * reads   potentials of the batch, its neighbours, and of the next coarser level; shares of the next finer one;
 *         links on GPUs
 * updates cells */
#include <stdlib.h>

#include "codelets/potential/potentials.h"

struct gas_border_argument {
  struct batch_argument batch;
  double weight;           /* of the time of the level within the coarser one's step */
  struct border_kick kick; /* without the background */
};
enum { CELLS, POTENTIALS_AROUND };

static double gas_border_work(const struct gas_border_argument *a) { return batch_work(&a->batch); }

/** The mean density is that of the time of the potentials that the task reads. */
static struct border_kick kick_of(const struct gas_border_argument *a) {
  struct border_kick kick = a->kick;
  kick.background = 2.0 * kick.source * gravity_background(a->batch.gas);
  return kick;
}

/** What refines the neighbour across a face of a patch; NULL: nothing does, or the patch itself is refined.
 * @param shares  buffers of gas_batch.fine */
static const struct poisson_share *finer_share(void *shares[], const struct batch_argument *a,
                                               uint32_t group, int patch, int face) {
  const struct gas *g = a->gas;
  const struct batch_list *fine = &batch_of(a)->fine;
  uint32_t i = 0;
  if (topology_group(&g->topology, a->level, group)->son[patch] != NO_GROUP) return NULL;
  const uint32_t son = topology_finer_neighbour(&g->topology, a->level, group, patch,
                                                topology_across(face));
  if (son == NO_GROUP) return NULL;
  while (fine->batch[i] != son / fine->groups) i++;
  return VECTOR(const struct poisson_share, shares[i]) + son % fine->groups;
}

static void kick_group(void *shares[], const struct gas_border_argument *a,
                       const struct potential_sources *sources, uint32_t group, void *cells) {
  const struct border_kick kick = kick_of(a);
  double wide[WIDE_CELLS];
  bool filled = false;
  for (int patch = 0; patch < GAS_PATCHES; patch++)
    for (int face = 0; face < GAS_FACES; face++) {
      const struct poisson_share *finer = finer_share(shares, &a->batch, group, patch, face);
      if (!finer) continue;
      if (!filled) potential_wide(sources, group, wide);
      filled = true;
      a->batch.gas->gravity->kernels->border(wide, patch, face, finer, kick, cells);
    }
}

static void gas_border_cpu(void *buffers[], const struct gas_border_argument *a) {
  const struct gas_batch *b = batch_of(&a->batch);
  const char **addresses;
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const struct potential_sources sources = surroundings_of(&around, buffers, POTENTIALS_AROUND,
                                                           &addresses);
  for (uint32_t i = 0; i < b->count; i++)
    kick_group(buffers + POTENTIALS_AROUND + surroundings_count(&around), a, &sources, b->first + i,
               nth(buffers[CELLS], gas_group_bytes(a->batch.gas), i));
  free(addresses);
}

static void gas_border_gpu(struct gpu *gpu, void *buffers[], const struct gas_border_argument *a) {
  const struct gpu_gas g = gpu_gas_of(gpu, &a->batch);
  const struct surroundings around = surroundings_of_kick(&a->batch, a->weight);
  const size_t first = POTENTIALS_AROUND, finer = first + surroundings_count(&around);
  const uint32_t fine = batch_of(&a->batch)->fine.count;
  const char **addresses, **shares = slots_addresses(buffers, finer, fine);
  const struct gpu_potentials from = gpu_potentials_of(&around, buffers, first, finer + fine,
                                                       &addresses);
  const struct border_kick kick = kick_of(a);
  gpu_gas_border(&g, &kick, from.links, shares, fine, gpu_gas_potential_wide(&g, &from),
                 VECTOR(void, buffers[CELLS]));
  free(addresses);
  free(shares);
}

STAGE(gas_border, 0xbb9944, "gas");

void gas_border_submit(struct gas *g, int level, uint32_t batch, struct kick_task kick) {
  const struct gas_border_argument a = {
      {g, level, batch},
      kick.weight,
      {kick.dt / (2.0 * gas_cell(g, level)), gravity_factor(g, level), 0.0, kick.closing}};
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = batch_of(&a.batch);
  const struct surroundings around = surroundings_of_kick(&a.batch, a.weight);
  struct slots slots = slots_of("gas_border", g, level, batch);
  slots_add(&slots, b->handle[l->now], STARPU_RW);
  surroundings_slots(&slots, &around);
  for (uint32_t i = 0; i < b->fine.count; i++) shares_slot(&slots, level + 1, b->fine.batch[i]);
  slots_add_links(&slots, b);
  gas_border_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
}
