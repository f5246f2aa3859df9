/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of the adaptive mesh on a GPU; see photons/runtime/gpu.h. Stages work on all groups of a
 * batch, and have the same shapes and meaning as the functions of photons/amr/kernels.h for one
 * group. */
#ifndef PHOTONS_CUDA_AMR_H
#define PHOTONS_CUDA_AMR_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/amr/kernels.h"
#include "photons/amr/links.h"
#include "photons/runtime/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What all stages know. */
struct gpu_gas {
  struct gpu *gpu;
  struct gas_physics physics;
  bool double_precision; /**< type of the cells */
  uint32_t groups;       /**< of the batch */
};

/** What blocks are made from; see photons/amr/blocks.h. */
struct gpu_sources {
  const char *const *cells; /**< near batches, coarse ones, and unless `weight` is 1 coarse ones
                                 before the last step */
  uint32_t near, coarse;    /**< numbers of batches */
  double weight;            /**< of the coarser level's present */
  enum gas_boundary boundary[3][2];
  const struct gas_links *links; /**< in device memory */
};

/** What a message has of its groups; the same as enum ghost_kind. */
enum gpu_ghost_kind {
  GPU_GHOST_CELLS,
  GPU_GHOST_SIDES,
  GPU_GHOST_MEANS,
  GPU_GHOST_POTENTIALS,
  GPU_GHOST_SHARES,
  GPU_GHOST_MATTER,
  GPU_GHOST_MATTER_MEANS,
  GPU_GHOST_KINDS
};
/** The groups of a message, g->groups of them, and its batches. */
struct gpu_message {
  enum gpu_ghost_kind kind;
  const struct gpu_ghost *ghost; /**< [group], in device memory */
  const char *const *batch;      /**< [batches] */
  uint32_t batches;
};

/** Fill groups: copy those that stay, interpolate the others from the coarser level.
 * @param from        with weight 1 and no near batches; no coarse ones where nothing is interpolated
 * @param old, count  arrays of groups from which cells are copied
 * @param move        [group], in host memory */
void gpu_gas_regrid(const struct gpu_gas *g, const struct gpu_sources *from, const char *const *old,
                    uint32_t count, const struct gas_move *move, void *cells);
/** Pack the parts of a message, and copy them to their places. */
void gpu_gas_cut(const struct gpu_gas *g, const struct gpu_message *m, void *packed);
void gpu_gas_paste(const struct gpu_gas *g, const struct gpu_message *m, const void *packed);

#ifdef __cplusplus
}
#endif

#endif
