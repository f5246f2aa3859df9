/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Densities that particles give to cells: what the potential and the flags read of particles. */
#ifndef PHOTONS_AMR_MATTER_H
#define PHOTONS_AMR_MATTER_H

#include "photons/amr/blocks.h"

/** The density of all particles in a cell. */
static inline double matter_density(const struct gas_matter *m, size_t cell) {
  return m->coarse[cell] + m->fine[cell];
}

/** Densities of a group of the batches of a list. */
const struct gas_matter *matter_of(const struct batch_cells *b, uint32_t group);
/** Add factor times the density of particles to a source of the potential, [z 16][y 16][x 16].
 * @param m  may be NULL
 * @return factor times the sum of the densities */
double matter_add(const struct gas_matter *m, double factor, double *source);
/** The means of 2^3 cells of a group's densities, own and finer ones, [z 8][y 8][x 8]; and put them,
 * as densities of finer levels, where they are in the group that has this patch. */
void matter_means(const struct gas_matter *m, double mean[GAS_PATCH_CELLS]);
void matter_put_means(const double mean[GAS_PATCH_CELLS], int patch, struct gas_matter *m);

#endif
