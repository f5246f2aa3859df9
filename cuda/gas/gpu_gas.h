/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of gas on a GPU; see photons/runtime/gpu.h. They work on all groups of a batch, and have
 * the same shapes and meaning as the functions of photons/gas/kernels.h for one group. */
#ifndef PHOTONS_CUDA_GAS_H
#define PHOTONS_CUDA_GAS_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/gas/kernels.h"
#include "photons/gas/links.h"
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

/** What blocks are made from; see photons/gas/blocks.h. */
struct gpu_sources {
  const char *const *cells; /**< near batches, coarse ones, and unless `weight` is 1 coarse ones
                                 before the last step */
  uint32_t near, coarse;    /**< numbers of batches */
  double weight;            /**< of the coarser level's present */
  enum gas_boundary boundary[3][2];
  const struct gas_links *links; /**< in device memory */
};

/** A group of a message between ranks; see photons/gas/ghosts.h. */
struct gpu_ghost {
  uint32_t batch, group; /**< where it is: which of the message's batches, and which group of it */
  uint32_t first;        /**< number of parts of the groups before it */
  uint32_t patch;        /**< of the coarser group, that it refines */
  uint64_t parts;
};
/** What a message has of its groups. */
enum gpu_ghost_kind { GPU_GHOST_CELLS, GPU_GHOST_SIDES, GPU_GHOST_MEANS };
/** The groups of a message, g->groups of them, and its batches. */
struct gpu_message {
  enum gpu_ghost_kind kind;
  const struct gpu_ghost *ghost; /**< [group] */
  const char *const *batch;      /**< [batches] */
  uint32_t batches;
};

/** Memory in which gpu_gas_advance() has blocks until the next call. */
void *gpu_gas_blocks(const struct gpu_gas *g);
void gpu_gas_prepare(const struct gpu_gas *g, const struct gpu_sources *s, void *blocks);
/** @param fault  in pinned host memory; the first fault of a group is written */
void gpu_gas_solve_single(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                          void *cells, void *fluxes, struct gas_fault *fault);
void gpu_gas_solve_double(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                          void *cells, void *fluxes, struct gas_fault *fault);
/** The one of the two that g->double_precision says. */
void gpu_gas_solve(const struct gpu_gas *g, double dt_dh, bool reversed, const void *blocks,
                   void *cells, void *fluxes, struct gas_fault *fault);
void gpu_gas_close(const struct gpu_gas *g, double weight, bool first, const void *fluxes,
                   void *sides);
/** @param fine, batches  batches of the next finer level: their fluxes through sides */
void gpu_gas_fix(const struct gpu_gas *g, double dt_dh, const struct gas_links *links,
                 const char *const *fine, uint32_t batches, const void *fluxes, void *cells);
/** @param fine, batches  batches of the next finer level: their cells */
void gpu_gas_restrict(const struct gpu_gas *g, const struct gas_links *links,
                      const char *const *fine, uint32_t batches, void *cells);
/** @param matter  [group], or NULL: there are no particles
 * @param flags   in pinned host memory, [group][patch] */
void gpu_gas_flag(const struct gpu_gas *g, const struct gas_flags *criteria, int buffer,
                  const void *blocks, const struct gas_matter *matter,
                  uint32_t (*flags)[GAS_PATCHES]);
/** Fill groups: copy those that stay, interpolate the others from the coarser level.
 * @param from        with weight 1 and no near batches; no coarse ones where nothing is interpolated
 * @param old, count  arrays of groups from which cells are copied
 * @param move        [group], in host memory */
void gpu_gas_regrid(const struct gpu_gas *g, const struct gpu_sources *from, const char *const *old,
                    uint32_t count, const struct gas_move *move, void *cells);
/** Pack the parts of a message, and copy them to their places. */
void gpu_gas_cut(const struct gpu_gas *g, const struct gpu_message *m, void *packed);
void gpu_gas_paste(const struct gpu_gas *g, const struct gpu_message *m, const void *packed);
/** @param speed, fault  in pinned host memory; the first fault of a group is written */
void gpu_gas_cfl(const struct gpu_gas *g, const void *cells, double *speed,
                 struct gas_fault *fault);
/** @param sum  in pinned host memory */
void gpu_gas_sum(const struct gpu_gas *g, const struct gas_links *links, const void *cells,
                 double (*sum)[GAS_VARIABLES_MAX]);

#ifdef __cplusplus
}
#endif

#endif
