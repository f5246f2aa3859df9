/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of gas on a GPU; see photons/runtime/gpu.h. They work on all groups of a batch, and have
 * the same shapes and meaning as the functions of photons/gas/kernels.h for one group. */
#ifndef PHOTONS_CUDA_GAS_H
#define PHOTONS_CUDA_GAS_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/gas/kernels.h"
#include "photons/gas/links.h"
#include "photons/gas/poisson.h"
#include "photons/gas/settling.h"
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

/* Self-gravity: the functions of photons/gas/poisson.h. */

/** What potential blocks are made from; see struct potential_sources. */
struct gpu_potentials {
  const char *const *cells;  /**< near batches, coarse ones at the beginning of the coarser level's
                                  step, coarse ones at its end */
  uint32_t near, begin, end; /**< numbers of batches; 0: none are read */
  double weight;             /**< of the end */
  bool change; /**< correct potentials of the level by the change from `begin` to `end` */
  const struct gas_links *links; /**< in device memory */
};

/** A source of the potential. */
struct gpu_density {
  const void *cells;
  const double *mass;              /**< pseudo-mass; may be NULL */
  double factor, mean;             /**< source = factor (density - mean + pseudo-mass) */
  const struct gas_matter *matter; /**< [group] densities of particles; NULL: there are none */
};

/** Memory in which a task has potential blocks, until the next call. */
double *gpu_gas_potential_memory(const struct gpu_gas *g);
/** Every other group is solved. */
struct gpu_half {
  bool odd;  /**< odd ones are solved, else even ones: topology_is_odd() */
  bool keep; /**< the others keep the potential of their blocks; else they get 0 */
  const struct gas_links *links; /**< in device memory */
};

/** Blocks [group][z 18][y 18][x 18]. Ghost cells beyond edges and corners are 0. */
void gpu_gas_potential_blocks(const struct gpu_gas *g, const struct gpu_potentials *p,
                              double *blocks);
/** What gpu_gas_solve_directly() reads of them: ghost cells of groups that are solved, and inner
 * cells of groups that keep them. */
void gpu_gas_potential_ghosts(const struct gpu_gas *g, const struct gpu_potentials *p,
                              struct gpu_half half, double *blocks);
/** @param waves      in host memory, without the pivots
 * @param pivot       poisson_waves.pivot
 * @param potentials  [group][z 16][y 16][x 16] */
void gpu_gas_solve_directly(const struct gpu_gas *g, const struct poisson_waves *waves,
                            const double *pivot, const struct gpu_density *density,
                            struct gpu_half half, const double *blocks, double *potentials);
/** Relax until the residual is at most tolerance times the sum over the group of factor |density|,
 * or times `least` if this is more. Groups that are not solved keep the potential of their blocks.
 * @param blocks  are not changed */
void gpu_gas_relax(const struct gpu_gas *g, const struct gpu_density *density, double tolerance,
                   double least, struct gpu_half half, const double *blocks, double *potentials);
void gpu_gas_share(const struct gpu_gas *g, const struct gpu_density *density, const double *blocks,
                   struct poisson_share *shares);
/** Put finer means into blocks, and find the pseudo-mass.
 * @param shares, batches  of the batches of gas_batch.around */
void gpu_gas_sheet(const struct gpu_gas *g, const struct gas_links *links,
                   const char *const *shares, uint32_t batches, const struct gpu_density *density,
                   double *blocks, double *sheets, double *potentials);
/** @param factor  time / (2 cell) */
void gpu_gas_kick(const struct gpu_gas *g, double factor, const double *blocks, void *cells);
/** @param cell   side of a cell
 * @param field  in pinned host memory */
void gpu_gas_field(const struct gpu_gas *g, const struct gas_links *links, double cell,
                   const double *blocks, const struct gpu_density *density,
                   struct gas_field *field);

/* Particles: photons/gas/particles.h. */

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
/** Potentials with two ghost cells a side, [group][z 20][y 20][x 20].
 * @return memory that lasts until the next call */
double *gpu_gas_potential_wide(const struct gpu_gas *g, const struct gpu_potentials *p);
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

/* The root level, on one rank. */

/** Of the transforms along x, y, z. The mesh is [z][y][2 (x/2 + 1)], in device memory. */
struct gpu_root_size {
  uint32_t size[3];
};
/** Plans of a CUDA worker. */
struct gpu_root;
struct gpu_root *gpu_root_create(struct gpu *g, const struct gpu_root_size *size);
void gpu_root_free(struct gpu_root *r);
/** Put the sources of a batch of the root level into the mesh.
 * @param sum  [group] of |density|, in pinned host memory */
void gpu_root_put(const struct gpu_root *r, const struct gpu_gas *g,
                  const struct gpu_density *density, const struct gas_links *links, double *mesh,
                  double *sum);
/** From the source to the potential. @param green  [y][z <= size/2][x/2 + 1]: transform of the Green
 * function; NULL: the box is periodic */
void gpu_root_solve(const struct gpu_root *r, const double *green, double *mesh);
/** Get the potentials of a batch from the mesh. */
void gpu_root_get(const struct gpu_root *r, const struct gpu_gas *g, const struct gas_links *links,
                  const double *mesh, double *potentials);

#ifdef __cplusplus
}
#endif

#endif
