/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/matter.h"

#include <string.h>

enum { SIDE = GAS_GROUP_SIDE };

void matter_means(const struct gas_matter *m, double mean[GAS_PATCH_CELLS]) {
  for (int i = 0; i < GAS_PATCH_CELLS; i++) {
    const int x = i & 7, y = i >> 3 & 7, z = i >> 6;
    double sum = 0.0;
    for (int k = 0; k < 8; k++) {
      const int at = ((2 * z + (k >> 2)) * SIDE + 2 * y + (k >> 1 & 1)) * SIDE + 2 * x + (k & 1);
      sum += m->own[at] + m->fine[at];
    }
    mean[i] = 0.125 * sum;
  }
}

void matter_put_means(const double mean[GAS_PATCH_CELLS], int patch, struct gas_matter *m) {
  double *low = m->fine +
                GAS_PATCH_SIDE * (((patch >> 2) * SIDE + (patch >> 1 & 1)) * SIDE + (patch & 1));
  for (int z = 0; z < GAS_PATCH_SIDE; z++)
    for (int y = 0; y < GAS_PATCH_SIDE; y++, mean += GAS_PATCH_SIDE)
      memcpy(low + (z * SIDE + y) * SIDE, mean, GAS_PATCH_SIDE * sizeof *mean);
}

const struct gas_matter *matter_of(const struct batch_cells *b, uint32_t group) {
  uint32_t i = 0;
  while (b->list->batch[i] != group / b->list->groups) i++;
  return (const struct gas_matter *)(const void *)b->cells[i] + group % b->list->groups;
}

double matter_add(const struct gas_matter *m, double factor, double *source) {
  double sum = 0.0;
  for (size_t i = 0; m && i < GAS_GROUP_CELLS; i++) {
    source[i] += factor * matter_density(m, i);
    sum += matter_density(m, i);
  }
  return factor * sum;
}
