/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of pictures and halos on a GPU; see photons/runtime/gpu.h. */
#ifndef PHOTONS_CUDA_ANALYSIS_H
#define PHOTONS_CUDA_ANALYSIS_H

#include <stdbool.h>

#include "photons/runtime/gpu.h"
#include "src/analysis/halo_part.h"
#include "src/analysis/power_deposit.h"
#include "src/analysis/sheet_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds the same numbers as sheet_deposit() does without fused multiplications and additions, which
 * a compiler may use where it is told to (-march): then both agree to the rounding of jumps. */
void gpu_sheet_deposit(struct gpu *gpu, const struct sheet_part *part);

/** Friends of friends among `count` particles, more than 0: head[i] is `first` and the number of the
 * first particle of i's FoF group. The order of particles should be that of a tree (tree.h), or it takes long.
 * @param length2  square of the linking length, position units
 * @param x        [3][count]
 * @param head     [count] */
void gpu_fof_link(struct gpu *gpu, uint32_t first, uint32_t count, uint64_t length2,
                  const uint32_t *x, uint32_t *head);

/** Densities in halos and the neighbours that make them, to the bits of src/analysis/kernels/halo_nearest.c.
 * @param part  above 0 rows; its arrays are in device memory */
void gpu_halo_density(struct gpu *gpu, const struct density_part *part);

/** Potentials of particles in their own field, to the bits of src/analysis/kernels/halo.c.
 * @param part  above 0 rows; its arrays are in device memory */
void gpu_halo_potential(struct gpu *gpu, const struct potential_part *part);

/** Particles of an ORB group. */
struct power_group {
  uint32_t count;           /**< above 0 */
  const uint32_t *position; /**< [3][count] */
  const float *momentum;    /**< [3][count], or NULL: real space */
  const float *mass;        /**< [count] over the mean, or NULL: all are 1 */
};

/** Add particles to both meshes of a power spectrum, to the bits of src/analysis/kernels/power.c.
 * @param clear     fill cells and overflow with zeros before
 * @param overflow  becomes 1 where a cell holds 2^31 units or more */
void gpu_power_deposit(struct gpu *gpu, const struct power_layout *layout,
                       const struct power_folding *folding, const struct power_group *group,
                       bool clear, int32_t *plain, int32_t *shifted, uint32_t *overflow);

/** Transform both meshes, which are lost, and sum up the modes of equal |k|. Waits for the transforms. The sums
 * do not depend on the order of the modes.
 * @param plain, shifted  deposits, integers of 4 bytes
 * @param table           [3 n] exp(-i k h/2) of one axis, and 1/W^2 of one axis
 * @param shell           [power_shells_of(n)] */
void gpu_power_shells(struct gpu *gpu, const struct power_layout *layout, double unit,
                      size_t particles, const float *table, float *plain, float *shifted,
                      struct power_shell *shell);

#ifdef __cplusplus
}
#endif

#endif
