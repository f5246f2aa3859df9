/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of particles on a GPU; photons/pm/particles.h. */
#ifndef PHOTONS_CUDA_PM_H
#define PHOTONS_CUDA_PM_H

#include "cuda/amr/gpu_amr.h"
#include "photons/pm/settling.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The box as particles of a level see it. */
struct gpu_particle_box {
  double cell;        /**< side of a cell of the level */
  double side[3];     /**< of the box */
  uint32_t groups[3]; /**< of the level in the box, if it were there everywhere */
  bool periodic[3];
};
/** Particles that follow each other in a batch. */
struct gpu_particle_range {
  uint32_t batch; /**< of gpu_clouds.batch */
  uint32_t first, count;
};
/** The particles of groups near those of a batch; tables are in host memory. */
struct gpu_clouds {
  struct gpu_particle_box box;
  double mass;    /**< of all particles, or more */
  uint32_t near;  /**< batches of gas_batch.near */
  uint32_t group; /**< groups of a batch, or more */
  /** [near (group + 1) + 1] ranges before those of group i of near batch k: [k (group + 1) + i] */
  const uint32_t *first;
  const struct gpu_particle_range *range; /**< [ranges] */
  uint32_t ranges, batches;
  const char *const *batch; /**< [batches] struct gas_particle in device memory */
};

/** Densities that particles give to a batch.
 * @param coarse, batches  densities of the next coarser level; 0: there is none
 * @param ahead            densities of finer levels stay; else they become 0 */
void gpu_gas_deposit(const struct gpu_gas *g, const struct gpu_clouds *c,
                     const struct gas_links *links, const char *const *coarse, uint32_t batches,
                     bool ahead, struct gas_matter *matter);
/** Let the particles of ranges, which are of finer levels, move on for a time: add what that changes
 * to the densities of finer levels. */
void gpu_gas_move_on(const struct gpu_gas *g, const struct gpu_clouds *c,
                     const struct gas_links *links, double time, struct gas_matter *matter);
/** @param finer, batches  densities of the next finer level */
void gpu_gas_collect(const struct gpu_gas *g, const struct gas_links *links,
                     const char *const *finer, uint32_t batches, struct gas_matter *matter);
/** Kick and drift as gas_particles_push(); with dt < 0 find sums as gas_particles_feel(), of groups that
 * have particles.
 * @param first  [group + 1] in host memory: particles before those of a group
 * @param sums   [group] in pinned host memory */
void gpu_gas_push(const struct gpu_gas *g, const struct gpu_particle_box *box, double dt,
                  const struct gas_links *links, const uint32_t *first, const double *wide,
                  struct gas_particle *particle, struct particle_sums *sums);

/** List the particles that may leave their groups. The order of a group's leavers is not fixed.
 * @param cell, time  side of a cell of the groups' level; gas_leaving.time
 * @param fence   [groups], and first [groups + 1]: particles before those of a group; both in host
 *                memory
 * @param leaver  those of a group begin where its particles do; and leavers: [groups] their numbers;
 *                both in pinned host memory */
void gpu_gas_leave(struct gpu *gpu, uint32_t groups, double cell, double time,
                   const struct gas_fence *fence, const uint32_t *first,
                   const struct gas_particle *particle, struct gas_leaver *leaver,
                   uint32_t *leavers);
/** Make the particles of a new batch. @param old  [s->batches] particles of old batches */
void gpu_gas_arrive(struct gpu *gpu, uint32_t groups, const struct gas_arrivals *s,
                    const char *const *old, struct gas_particle *particle);

#ifdef __cplusplus
}
#endif

#endif
