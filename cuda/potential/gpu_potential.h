/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of self-gravity on a GPU: the functions of photons/potential/poisson.h. */
#ifndef PHOTONS_CUDA_POTENTIAL_H
#define PHOTONS_CUDA_POTENTIAL_H

#include "cuda/amr/gpu_amr.h"
#include "photons/potential/poisson.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What potential blocks are made from; see struct potential_sources. */
struct gpu_potentials {
  const char *const *cells;  /**< near batches, coarse ones at the beginning of the coarser level's
                                  step, coarse ones at its end */
  uint32_t near, begin, end; /**< numbers of batches; 0: none are read */
  double weight;             /**< of the end */
  double change; /**< correct potentials of the level by this part of the change from `begin` to
                    `end`; 0: do not */
  const struct gas_links *links; /**< in device memory */
};

/** A source of the potential. */
struct gpu_density {
  const void *cells;
  const double *mass;              /**< pseudo-mass; may be NULL */
  double factor, mean;             /**< source = factor (density - mean + pseudo-mass) */
  const struct gas_matter *matter; /**< [group] densities of particles; NULL: there are none */
  const double *
      density; /**< [group][z 16][y 16][x 16] of gpu_gas_density(), for kernels in the place of cells and
                            `matter`; NULL: these are read */
};

/** Memory in which a task has potential blocks, until the next call. @param blocks  of each group */
double *gpu_gas_potential_memory(const struct gpu_gas *g, uint32_t blocks);
/** What happens to the groups that are not solved. */
enum gpu_others {
  GPU_OTHERS_ZERO, /**< they get 0 */
  GPU_OTHERS_COPY, /**< they get their potential of before */
  GPU_OTHERS_STAY  /**< they are not written */
};
/** Every other group is solved. */
struct gpu_half {
  bool odd; /**< odd ones are solved, else even ones: topology_is_odd() */
  enum gpu_others others;
  double excess; /**< over-relaxation: what a solution changes is taken 1 + excess times */
};

/** Blocks [group][z 18][y 18][x 18]. Ghost cells beyond edges and corners are 0. */
void gpu_gas_potential_blocks(const struct gpu_gas *g, const struct gpu_potentials *p,
                              double *blocks);
/** The densities of gas and particles of a batch, [group][z 16][y 16][x 16]. */
void gpu_gas_density(const struct gpu_gas *g, const struct gpu_density *from, double *density);
/** A batch whose groups are solved directly. */
struct gpu_solved {
  struct gpu_density density;
  struct gpu_potentials
      from;   /**< with the coarser level; the batch itself is in the near list, if there is one */
  double *to; /**< [group][z 16][y 16][x 16]; may be what is in the near list, if others stay */
  uint32_t groups;
};
/** Solve halves of the groups of batches one after the other. @param waves  in host memory, without the pivots
 * @param pivot    poisson_waves.pivot
 * @param batch    [batches]
 * @param half     [halves] */
void gpu_gas_solve_directly(const struct gpu_gas *g, const struct poisson_waves *waves,
                            const double *pivot, const struct gpu_solved *batch, uint32_t batches,
                            const struct gpu_half *half, uint32_t halves);
/** Relax until the residual is at most tolerance times the sum over the group of factor |density|,
 * or times `least` if this is more. Groups that are not solved get the potential of their blocks.
 * @param blocks  are not changed */
void gpu_gas_relax(const struct gpu_gas *g, const struct gpu_density *density, double tolerance,
                   double least, const struct gas_links *links, struct gpu_half half,
                   const double *blocks, double *potentials);
void gpu_gas_share(const struct gpu_gas *g, const struct gpu_density *density, const double *blocks,
                   struct poisson_share *shares);
/** poisson_kernels.stress. @param wide  of gpu_gas_potential_wide() */
void gpu_gas_stress(const struct gpu_gas *g, double background, const double *wide,
                    struct poisson_share *shares);
/** poisson_kernels.sum_stress. */
void gpu_gas_sum_stress(const struct gpu_gas *g, const struct stress_kick *kick,
                        struct poisson_share *shares, struct stress_sum *sums);
/** Find the pseudo-mass, and the potential with finer means.
 * @param from             near potentials alone, the batch's own ones among them
 * @param shares, batches  of the batches of gas_batch.around
 * @param later            [group][z 16][y 16][x 16], that potential */
void gpu_gas_sheet(const struct gpu_gas *g, const struct gpu_potentials *from,
                   const char *const *shares, uint32_t batches, const struct gpu_density *density,
                   double *sheets, double *later);
/** @param factor  time / (2 cell) */
void gpu_gas_kick(const struct gpu_gas *g, double factor, const double *blocks, void *cells);
/** gravity_kernels.border. @param shares, batches  of the batches of gas_batch.fine */
void gpu_gas_border(const struct gpu_gas *g, const struct border_kick *kick,
                    const struct gas_links *links, const char *const *shares, uint32_t batches,
                    const double *wide, void *cells);
/** gravity_kernels.work. @param mass  [group][GAS_MASS_FLUXES] */
void gpu_gas_work(const struct gpu_gas *g, double dt_dh, const double *begin, const double *end,
                  const void *mass, const void *before, void *cells);
/** @param cell   side of a cell
 * @param field  in pinned host memory */
void gpu_gas_field(const struct gpu_gas *g, const struct gas_links *links, double cell,
                   const double *blocks, const struct gpu_density *density,
                   struct gas_field *field);

/* The root level. */

/** Of the transforms along x, y, z. The mesh is [z][y][2 (x/2 + 1)], in device memory. On several GPUs
 * each has planes of it, a slab, and for the transform along z lines of it, [z][y here][x/2 + 1]. */
struct gpu_root_size {
  uint32_t size[3];
  uint32_t planes, lines; /**< of a GPU; 0: one has the whole mesh */
};
/** Planes of the mesh in a slab. */
struct gpu_root_planes {
  uint32_t first, end;
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
/** Wait for what the worker's stream has to do, for example for the sums of gpu_root_put(). */
void gpu_root_wait(const struct gpu_root *r);
/** The sources of a batch, [group][16][16][16], and put them into a slab. */
void gpu_root_source(const struct gpu_gas *g, const struct gpu_density *density, double *sources,
                     double *sum);
void gpu_root_put_source(const struct gpu_root *r, const struct gpu_gas *g,
                         struct gpu_root_planes planes, const struct gas_links *links,
                         const double *sources, double *slab);
/** Transform a slab along x and y, forward or backward. */
void gpu_root_rows(const struct gpu_root *r, bool forward, double *slab);
/** Transform lines along z, make the waves those of the potential, and transform them back.
 * @param first  of the lines, in the mesh; lines beyond the mesh stay as they are
 * @param green  as below, from line first_green on */
void gpu_root_lines(const struct gpu_root *r, uint32_t first, uint32_t first_green,
                    const double *green, double *lines);
/** From the source to the potential. @param green  [y][z <= size/2][x/2 + 1]: transform of the Green
 * function; NULL: the box is periodic */
void gpu_root_solve(const struct gpu_root *r, const double *green, double *mesh);
/** Get the potentials of a batch from planes of the mesh. */
void gpu_root_get(const struct gpu_root *r, const struct gpu_gas *g, struct gpu_root_planes planes,
                  const struct gas_links *links, const double *slab, double *potentials);
/** Take the potentials of a batch in some planes from others of this batch. */
void gpu_root_take(const struct gpu_gas *g, struct gpu_root_planes planes,
                   const struct gas_links *links, const double *from, double *potentials);
/** Potentials with two ghost cells a side, [group][z 20][y 20][x 20].
 * @return memory that lasts until the next call */
double *gpu_gas_potential_wide(const struct gpu_gas *g, const struct gpu_potentials *p);

#ifdef __cplusplus
}
#endif

#endif
