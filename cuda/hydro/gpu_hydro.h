/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of gas on a GPU. */
#ifndef PHOTONS_CUDA_HYDRO_H
#define PHOTONS_CUDA_HYDRO_H

#include "cuda/amr/gpu_amr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What 32 cells of a plane of a block that follow each other say of strong shocks: one between two cells needs a
 * thermal energy `most` of the cells with one of the two that is not below `least` of those with the other. */
struct heat_range {
  float least; /**< of thermal energies, each with itself or 0.01 of the energy added */
  float most;  /**< of thermal energies above 0.01 of the energy */
};
enum {
  HEAT_RANGES_OF_PLANE = (GAS_BLOCK_SIDE * GAS_BLOCK_SIDE + 31) / 32,
  HEAT_RANGES = GAS_BLOCK_SIDE * HEAT_RANGES_OF_PLANE /**< of a block */
};

/** Memory in which gas_advance has blocks until the next call. */
void *gpu_gas_blocks(const struct gpu_gas *g);
/** Memory for the ranges of these blocks, [group][HEAT_RANGES]; NULL if the solver does not look for shocks. */
struct heat_range *gpu_gas_heat(const struct gpu_gas *g);
/** @param heat  of gpu_gas_heat(), or NULL */
void gpu_gas_prepare(const struct gpu_gas *g, const struct gpu_sources *s, void *blocks,
                     struct heat_range *heat);
/** Where strong shocks stand.
 * @param heat    of gpu_gas_prepare(), so that few cells are looked at; or NULL: all are
 * @param axes    bits: the axes along which the sweep along each axis looks for shocks
 * @param shocks  [group][axis of the sweep][slow][fast], the columns of a sweep by their places along the two other
 *                axes, bit i: a shock is at cell i. Undefined where any is 0
 * @param any     [group] whether there is one */
void gpu_gas_mark_shocks(const struct gpu_gas *g, const void *blocks, const struct heat_range *heat,
                         const int axes[3], uint32_t *shocks, uint32_t *any);
/** Through which faces of patches the solver keeps the fluxes: others have no reader. */
enum gpu_faces {
  GPU_FACES_NONE = 0,
  GPU_FACES_OUTER = 5, /**< sides of groups */
  GPU_FACES_ALL = 7    /**< also those between patches of a group */
};
/** @param heat   of gpu_gas_prepare(), or NULL
 * @param faces  fluxes through other faces are not written
 * @param mass   [group][GAS_MASS_FLUXES], or NULL
 * @param fault  in pinned host memory; the first fault of a group is written */
void gpu_gas_solve_single(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                          const struct heat_range *heat, void *cells, void *fluxes,
                          enum gpu_faces faces, void *mass, struct gas_fault *fault);
void gpu_gas_solve_double(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                          const struct heat_range *heat, void *cells, void *fluxes,
                          enum gpu_faces faces, void *mass, struct gas_fault *fault);
/** The one of the two that g->double_precision says. */
void gpu_gas_solve(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                   const struct heat_range *heat, void *cells, void *fluxes, enum gpu_faces faces,
                   void *mass, struct gas_fault *fault);
void gpu_gas_close(const struct gpu_gas *g, double weight, bool first, const void *fluxes,
                   void *sides);
/** @param fine, batches  batches of the next finer level: their fluxes through sides */
void gpu_gas_fix(const struct gpu_gas *g, double dt_dh, const struct gas_links *links,
                 const char *const *fine, uint32_t batches, const void *fluxes, void *cells);
/** @param fine, batches  batches of the next finer level: their cells */
void gpu_gas_restrict(const struct gpu_gas *g, const struct gas_links *links,
                      const char *const *fine, uint32_t batches, void *cells);
/** @param change  of the velocity of all cells */
void gpu_gas_accelerate(const struct gpu_gas *g, const double change[3], void *cells);
/** @param matter  [group], or NULL: there are no particles
 * @param flags   in pinned host memory, [group][patch] */
void gpu_gas_flag(const struct gpu_gas *g, const struct gpu_sources *from,
                  const struct gas_flags *criteria, int buffer, const struct gas_matter *matter,
                  uint32_t (*flags)[GAS_PATCHES]);
/** @param speed, fault  in pinned host memory; the first fault of a group is written. fault may be NULL */
void gpu_gas_cfl(const struct gpu_gas *g, const void *cells, double *speed,
                 struct gas_fault *fault);
/** @param sum  in pinned host memory */
void gpu_gas_sum(const struct gpu_gas *g, const struct gas_links *links, const void *cells,
                 double (*sum)[GAS_VARIABLES_MAX]);

#ifdef __cplusplus
}
#endif

#endif
