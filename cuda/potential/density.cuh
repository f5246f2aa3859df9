/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials and their sources, for kernels with one block of threads a group. */
#ifndef PHOTONS_CUDA_POTENTIAL_DENSITY_CUH
#define PHOTONS_CUDA_POTENTIAL_DENSITY_CUH

#include "cuda/amr/real.cuh"
#include "cuda/potential/gpu_potential.h"

/** Where cell x, y, z of a group is in a block of the potential, [18][18][18]. */
INLINE int place_in_block(int x, int y, int z) {
  return ((z + 1) * POISSON_SIDE + y + 1) * POISSON_SIDE + x + 1;
}

/** Whether the potential of a group is solved. */
INLINE bool is_solved(const struct gas_links &group, const struct gpu_half &half) {
  return (__popc(group.patch) & 1) == half.odd;
}

/** The potential of cell i of a group, [patch][8][8][8]. */
INLINE const double *potential_at(const double *block, int i) {
  const struct cell_place c = place_of_cell(i);
  return block + place_in_block(c.x, c.y, c.z);
}

/** struct gpu_density for kernels. */
template <typename real> struct density_of_groups {
  const real *cells; /**< [group][variable][patch][8][8][8] */
  const double *mass;
  double factor, mean;
  const struct gas_matter *matter;
  const double *density;
  uint32_t variables;
};

template <typename real>
static density_of_groups<real> density_of(const struct gpu_gas *g, const struct gpu_density *d) {
  return {(const real *)d->cells,    d->mass, d->factor, d->mean, d->matter, d->density,
          gas_variables(&g->physics)};
}

/** The density of particles in cell i of the block's group, [z 16][y 16][x 16]. */
template <typename real> INLINE double matter_at(const density_of_groups<real> &d, int i) {
  return d.matter ? d.matter[blockIdx.x].coarse[i] + d.matter[blockIdx.x].fine[i] : 0.0;
}

/** The density of gas and particles. */
template <typename real>
INLINE double density_at(const density_of_groups<real> &d, int x, int y, int z) {
  const int i = (z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE + x;
  if (d.density) return d.density[(size_t)blockIdx.x * GAS_GROUP_CELLS + i];
  return (double)
             d.cells[(size_t)blockIdx.x * d.variables * GAS_GROUP_CELLS + place_in_group(x, y, z)] +
         matter_at(d, i);
}

/** The source of a cell of the block's group. What is added to it is not to be part of the product's rounding: kernels that
 * keep sources, and those that do not, have the same bits. */
template <typename real>
INLINE double source_at(const density_of_groups<real> &d, int x, int y, int z) {
  const double more = d.mass ? d.mass[(size_t)blockIdx.x * GAS_GROUP_CELLS +
                                      (z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE + x]
                             : 0.0;
  return __dmul_rn(d.factor, density_at(d, x, y, z) - d.mean + more);
}

#endif
