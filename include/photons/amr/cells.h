/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a patch group has: the shapes of its arrays, in memory and in the data of tasks. kernels.h and
 * poisson.h say what is computed with them. */
#ifndef PHOTONS_AMR_CELLS_H
#define PHOTONS_AMR_CELLS_H

#include <stdint.h>

#include "photons/amr/variables.h"

enum {
  GAS_PATCH_SIDE = 8,
  GAS_PATCH_CELLS = 512,
  GAS_GROUP_SIDE = 16,
  GAS_GROUP_CELLS = 4096,
  GAS_GHOSTS = 3,
  GAS_BLOCK_SIDE = 22,
  GAS_BLOCK_CELLS = 10648,
  GAS_COARSE_SIDE = 14,
  GAS_COARSE_CELLS = 2744,
  GAS_FACE_CELLS = 64,
  GAS_MASS_FLUXES =
      13056, /**< through the faces of a group's cells: 3 axes, 17 faces of 16^2 columns */
  GAS_FACES = 6,
  GAS_PATCHES = 8
};

/** The first cell of a group whose density or pressure is not positive, or that has a value that is
 * not finite. patch is -1 if there is none. `cell` counts within the patch: x + 8 y + 64 z. */
struct gas_fault {
  int32_t patch, cell;
  double density, pressure;
  uint64_t first_order; /**< faces of cells, one of a pair, to which solve gave fluxes of first order,
                             since cells would not have stayed positive */
};

/** Densities that particles give to the cells of a group, [z 16][y 16][x 16]. */
struct gas_matter {
  double own[GAS_GROUP_CELLS];    /**< of the level's particles */
  double coarse[GAS_GROUP_CELLS]; /**< the same, and that of coarser levels */
  double fine[GAS_GROUP_CELLS];   /**< of finer levels */
};

/** What a coarser level needs of a group. Coarse cells are [z][y][x], faces as those of
 * kernels.h. */
struct poisson_share {
  double slope[GAS_FACES][GAS_FACE_CELLS]; /**< means of ghost cell - cell inside over 2^2 faces,
                                                on the six sides of the group */
  double stress[GAS_FACES][3][GAS_FACE_CELLS]; /**< means of the stress on 2^2 faces, of the last
                                                    correction: stress.h */
  double closing[GAS_FACES][3]
                [GAS_FACE_CELLS]; /**< the same for the second kick of the coarser level's step */
  double mean[GAS_PATCH_CELLS];   /**< of the potential of 2^3 cells */
  double defect[GAS_PATCH_CELLS]; /**< of source - (sum of neighbours - 6 potential) of 2^3 cells */
};

/** Time integrals of the stress on the sides of a group, as those of poisson_share: stress.h. */
struct stress_sum {
  double sum[GAS_FACES][3][GAS_FACE_CELLS];
};

/** What the host asks about the potential of a group. */
struct gas_field {
  double energy;       /**< sum of density * potential / 2 over its cells that are not refined */
  double acceleration; /**< the largest along an axis */
};

#endif
