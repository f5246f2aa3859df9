/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_sheet: the pseudo-mass of a level from what the next finer one found, and the potential with
 * the finer one's means where that is.
 *
 * reads  cells and densities of particles, or densities of both; potentials of the batch and its
 *        neighbours; shares of the next finer level; links on GPUs
 * writes pseudo-mass, potential */
#include <stdlib.h>
#include <string.h>

#include "codelets/potential/potentials.h"

struct gas_sheet_argument {
  struct batch_argument batch;
  double factor; /* gravity_factor() */
};
enum { SHEETS, POTENTIAL, DENSITY }; /* density_slots(), then near potentials, shares, links */

static double gas_sheet_work(const struct gas_sheet_argument *a) { return batch_work(&a->batch); }

/** The first slot of potentials. */
static size_t near_slot(const struct batch_argument *a) {
  return DENSITY + density_slots_count(a->gas);
}

/** What refines a patch; NULL: nothing does. */
static const struct poisson_share *share_of(void *buffers[], const struct batch_argument *a,
                                            struct patch_number p) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  if (p.group == NO_GROUP) return NULL;
  const uint32_t son = topology_group(&g->topology, a->level, p.group)->son[p.patch];
  uint32_t i = 0;
  if (son == NO_GROUP) return NULL;
  while (b->around.batch[i] != son / b->around.groups) i++;
  return VECTOR(const struct poisson_share, buffers[near_slot(a) + b->near.count + i]) +
         son % b->around.groups;
}

/** A patch of the group, or the patch beside it across one of the group's faces. */
static void put_means(const double *mean, int patch, int face, double *block) {
  for (int i = 0; i < GAS_PATCH_CELLS; i++) {
    int cell[3];
    bool inside = true;
    for (int c = 0; c < 3; c++) {
      cell[c] = 1 + GAS_PATCH_SIDE * (patch >> c & 1) + (i >> 3 * c & 7);
      if (face >= 0 && c == face / 2) cell[c] += face % 2 ? GAS_PATCH_SIDE : -GAS_PATCH_SIDE;
      inside = inside && cell[c] >= 0 && cell[c] < POISSON_SIDE;
    }
    if (inside) block[(cell[2] * POISSON_SIDE + cell[1]) * POISSON_SIDE + cell[0]] = mean[i];
  }
}

/** Put finer means into a block, inside and in ghost cells. */
static void put_finer(void *buffers[], const struct batch_argument *a, uint32_t group,
                      double *block) {
  for (int p = 0; p < GAS_PATCHES; p++)
    for (int face = -1; face < GAS_FACES; face++) {
      const bool outer = face >= 0 && (p >> face / 2 & 1) == face % 2;
      if (face >= 0 && !outer) continue;
      const struct poisson_share *share = share_of(
          buffers, a,
          face < 0 ? (struct patch_number){.group = group, .patch = p}
                   : topology_patch_neighbour(&a->gas->topology, a->level, group, p,
                                              topology_across(face)));
      if (share) put_means(share->mean, p, face, block);
    }
}

static void find_pseudo_mass(void *buffers[], const struct batch_argument *a, double factor,
                             uint32_t i, const double *block, double *cube) {
  const struct gas *g = a->gas;
  const uint32_t group = batch_of(a)->first + i;
  double source[GAS_GROUP_CELLS];
  g->gravity->kernels->source(nth(buffers[DENSITY], gas_group_bytes(g), i), factor,
                              gravity_background(g), NULL, source);
  add_matter(g, buffers + DENSITY + 1, i, factor, source);
  memset(cube, 0, GAS_GROUP_CELLS * sizeof *cube);
  for (int p = 0; p < GAS_PATCHES; p++) {
    const struct poisson_share *mine = share_of(buffers, a,
                                                (struct patch_number){.group = group, .patch = p});
    if (mine) g->gravity->poisson->cover(block, source, mine, p, 1.0 / factor, cube);
    for (int face = 0; face < GAS_FACES && !mine; face++) {
      const struct poisson_share *beside = share_of(
          buffers, a,
          topology_patch_neighbour(&g->topology, a->level, group, p, topology_across(face)));
      if (beside)
        g->gravity->poisson->sheet(block, p, face, beside->slope[face ^ 1], 1.0 / factor, cube);
    }
  }
}

/** Whether a patch of a group, or one beside it, is refined. A refined patch of the group is beside other patches of
 * the group. */
static bool is_told(const struct gas *g, int level, uint32_t group) {
  for (int p = 0; p < GAS_PATCHES; p++)
    for (int face = 0; face < GAS_FACES; face++)
      if (topology_finer_neighbour(&g->topology, level, group, p, topology_across(face)) !=
          NO_GROUP)
        return true;
  return false;
}

static struct surroundings surroundings(const struct batch_argument *a) {
  return (struct surroundings){
      .gas = a->gas, .level = a->level, .batch = a->batch, .near = true, .which = POTENTIAL_END};
}

/** Group i of the batch, which finer groups tell something. */
static void tell_group(void *buffers[], const struct gas_sheet_argument *argument,
                       const struct potential_sources *sources, uint32_t i) {
  const struct batch_argument *a = &argument->batch;
  const uint32_t group = batch_of(a)->first + i;
  /* Ghost cells in the box without a group of this level are beside no refined patch, and are not
   * used. */
  double block[POISSON_CELLS] = {0};
  potential_block(sources, group, block);
  put_finer(buffers, a, group, block);
  find_pseudo_mass(buffers, a, argument->factor, i, block, nth_potential(buffers[SHEETS], i));
  potential_inner(block, nth_potential(buffers[POTENTIAL], i));
}

static void gas_sheet_cpu(void *buffers[], const struct gas_sheet_argument *argument) {
  const struct batch_argument *a = &argument->batch;
  const struct gas_batch *b = batch_of(a);
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const struct potential_sources sources = surroundings_of(&around, buffers, near_slot(a),
                                                           &addresses);
  uint32_t own = 0; /* the batch itself among the near ones */
  while (b->near.batch[own] != a->batch) own++;
  for (uint32_t i = 0; i < b->count; i++) {
    if (is_told(a->gas, a->level, b->first + i)) {
      tell_group(buffers, argument, &sources, i);
      continue;
    }
    memset(nth_potential(buffers[SHEETS], i), 0, GAS_GROUP_CELLS * sizeof(double));
    memcpy(nth_potential(buffers[POTENTIAL], i), nth_potential(buffers[near_slot(a) + own], i),
           GAS_GROUP_CELLS * sizeof(double));
  }
  free(addresses);
}

static void gas_sheet_gpu(struct gpu *gpu, void *buffers[],
                          const struct gas_sheet_argument *argument) {
  const struct batch_argument *a = &argument->batch;
  const struct gpu_gas g = gpu_gas_of(gpu, a);
  const struct surroundings around = surroundings(a);
  const uint32_t finer = batch_of(a)->around.count;
  const size_t near = near_slot(a), first_finer = near + surroundings_count(&around),
               links = first_finer + finer;
  const char **potentials, **shares = slots_addresses(buffers, first_finer, finer);
  const struct gpu_potentials from = gpu_potentials_of(&around, buffers, near, links, &potentials);
  const struct gpu_density density = gpu_density_in(a, buffers + DENSITY, NULL, argument->factor);
  gpu_gas_sheet(&g, &from, shares, finer, &density, VECTOR(double, buffers[SHEETS]),
                VECTOR(double, buffers[POTENTIAL]));
  free(potentials);
  free(shares);
}

STAGE(gas_sheet, 0x882255, "gas");

void gas_sheet_submit(struct gas *g, int level, uint32_t batch) {
  const struct gas_sheet_argument a = {{g, level, batch}, gravity_factor(g, level)};
  const struct gas_batch *b = batch_of(&a.batch);
  const struct surroundings around = surroundings(&a.batch);
  struct slots slots = slots_of("gas_sheet", g, level, batch);
  slots_add(&slots, b->sheets, STARPU_W);
  slots_add(&slots, potential_handle(g, level, batch, POTENTIAL_NEXT), STARPU_W);
  density_slots(&slots, g, level, batch);
  surroundings_slots(&slots, &around);
  for (uint32_t i = 0; i < b->around.count; i++) shares_slot(&slots, level + 1, b->around.batch[i]);
  slots_add_links(&slots, b);
  gas_sheet_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
