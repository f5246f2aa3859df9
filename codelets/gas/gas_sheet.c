/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_sheet: the pseudo-mass beside refined patches, and that of the next finer level.
 *
 * reads  potentials of the batch and its neighbours; slopes and pseudo-mass of the next finer level
 * writes pseudo-mass */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/gas/potentials.h"

#define gas_sheet_argument batch_argument
#define PI 3.14159265358979323846
enum { SHEETS, NEAR };

static double gas_sheet_work(const struct batch_argument *a) { return batch_work(a); }

/** The neighbour across a face: faces are -x +x -y +y -z +z. */
static int across(int face) {
  static const int stride[] = {1, 3, 9};
  return MYSELF + (face % 2 ? stride[face / 2] : -stride[face / 2]);
}

/** Number of a finer group's batch among the batch's finer ones. */
static uint32_t fine_of(const struct batch_argument *a, uint32_t son) {
  uint32_t i = 0;
  while (batch_of(a)->fine.batch[i] != son / a->gas->batch) i++;
  return i;
}

/** Whether a batch of the finer level has pseudo-mass itself. */
static bool is_massive(const struct batch_argument *a, uint32_t fine) {
  return a->gas->level[a->level + 1].batch[batch_of(a)->fine.batch[fine]].fine.count > 0;
}

static uint32_t massive_before(const struct batch_argument *a, uint32_t fine) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < fine; i++) count += is_massive(a, i);
  return count;
}

/** Refined patches have all neighbours: ghost cells where the level has no groups are not read. */
static struct surroundings surroundings(const struct batch_argument *a) {
  return (struct surroundings){a->gas, a->level, a->batch, .near = true};
}

static void patch_sheets(const struct batch_argument *a, uint32_t group, int patch,
                         const double *block, void **slopes, double *cube) {
  const struct gas *g = a->gas;
  const double cell = gas_cell(g, a->level);
  const double factor = 1.0 / (4.0 * PI * g->gravity->newton_constant * cell * cell);
  for (int face = 0; face < GAS_FACES; face++) {
    const struct patch_number n = topology_patch_neighbour(&g->topology, a->level, group, patch,
                                                           across(face));
    const uint32_t son = n.group == NO_GROUP
                             ? NO_GROUP
                             : g->topology.level[a->level].group[n.group].son[n.patch];
    if (son == NO_GROUP) continue;
    const double *slope = VECTOR(double, slopes[fine_of(a, son)]) +
                          (son % g->batch * (size_t)GAS_FACES + (size_t)(face ^ 1)) *
                              GAS_FACE_CELLS;
    g->gravity->poisson->sheet(block, patch, face, slope, factor, cube);
  }
}

static void gas_sheet_cpu(void *buffers[], const struct batch_argument *a) {
  const struct gas *g = a->gas;
  const struct gas_batch *b = batch_of(a);
  void **slopes = buffers + NEAR + b->near.count, **finer = slopes + b->fine.count;
  const char **addresses;
  const struct surroundings around = surroundings(a);
  const struct potential_sources sources = surroundings_of(&around, buffers, NEAR, &addresses);
  for (uint32_t i = 0; i < b->count; i++) {
    double block[POISSON_CELLS], *cube = nth_potential(buffers[SHEETS], i);
    memset(cube, 0, GAS_GROUP_CELLS * sizeof *cube);
    potential_block(&sources, b->first + i, block);
    for (int p = 0; p < GAS_PATCHES; p++) {
      const uint32_t son = g->topology.level[a->level].group[b->first + i].son[p];
      patch_sheets(a, b->first + i, p, block, slopes, cube);
      if (son != NO_GROUP && is_massive(a, fine_of(a, son)))
        g->gravity->poisson->add_means(
            nth_potential(finer[massive_before(a, fine_of(a, son))], son % g->batch), cube, p);
    }
  }
  free(addresses);
}

STAGE_ON_CPU(gas_sheet, 0x882255, "gas");

void gas_sheet_submit(struct gas *g, int level, uint32_t batch) {
  const struct batch_argument a = {g, level, batch, 0.0, false};
  const struct gas_batch *b = batch_of(&a);
  const struct gas_level *finer = &g->level[level + 1];
  const struct surroundings around = surroundings(&a);
  struct slots slots = {0};
  slots_add(&slots, b->sheets, STARPU_W);
  surroundings_slots(&slots, &around);
  for (uint32_t i = 0; i < b->fine.count; i++)
    slots_add(&slots, finer->batch[b->fine.batch[i]].slopes, STARPU_R);
  for (uint32_t i = 0; i < b->fine.count; i++)
    if (is_massive(&a, i)) slots_add(&slots, finer->batch[b->fine.batch[i]].sheets, STARPU_R);
  gas_sheet_insert(a, slots_task(&slots, PRIORITY_HIGH));
  free(slots.data);
}
