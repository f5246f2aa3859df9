/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The root level's potential on GPUs: one GPU has the whole mesh, or each home of each rank has a slab of it. */
#ifndef PHOTONS_POTENTIAL_ROOT_GPU_H
#define PHOTONS_POTENTIAL_ROOT_GPU_H

#include <starpu.h>
#include <stdbool.h>

#include "cuda/potential/gpu_potential.h"

struct gas;

/** A batch of another rank, of which slabs of this rank have planes. */
struct root_guest {
  uint32_t batch;
  struct gpu_root_planes planes;
  starpu_data_handle_t cubes,
      links;              /**< its source, then its potential in these planes; of `link` */
  struct gas_links *link; /**< [group] with places alone */
};
/** What the slabs of another rank have of the potential of a batch of this rank. */
struct root_away {
  uint32_t batch;
  int rank;
  starpu_data_handle_t cubes;
};

struct root_gpu {
  struct gpu_root_size size;
  struct gpu_root **worker;         /**< [worker] plans; NULL of those that are cores */
  starpu_data_handle_t mesh, green; /**< green: NULL where the box is periodic */
  uint32_t first_green;             /**< the first line of `green` */
  size_t mesh_bytes;
  uint32_t
      planes; /**< of the level; those of the transforms are twice as many in a box that is not periodic */
  uint32_t parts, homes,
      first; /**< slabs, one a home; 0: one GPU has the whole mesh. Of each rank; first of this rank */
  /** See codelets/potential/root_slabs.h. slab, lines: [home here]. sent: [slab here][part] pieces of own slabs;
   * received: [part][lines here] pieces of slabs of other ranks. */
  starpu_data_handle_t *slab, *lines, *sent, *received;
  struct gpu_root_planes
      *own;             /**< [own batch] its planes; NULL: root_gpu_meet() has not been called */
  uint32_t first_batch; /**< of the own ones */
  struct root_guest *guest;
  struct root_away *away;
  uint32_t guests, aways;
  double *sum;     /**< [own group] of |density|, in page-locked memory */
  uint32_t groups; /**< own ones of the root level */
};

/** The Green function's transform in host memory, [line][z <= size/2][x/2 + 1], of some lines. */
struct root_green {
  double *value; /**< NULL: the box is periodic */
  uint32_t first, lines;
};

/** Collective. With gas_tasks.together one GPU has the whole mesh. @param size   of the transforms
 * @param green  of the lines that the transform on cores has on this rank
 * @return NULL: a rank has no GPU, or the lines of its homes are not those of `green` */
struct root_gpu *root_gpu_make(const struct gas *g, const uint32_t size[3],
                               struct root_green green);
/** Find which batches have planes of which slabs. The root level's batches are those of the whole run. */
void root_gpu_meet(struct root_gpu *r, const struct gas *g);
/** @param r  may be NULL */
void root_gpu_free(struct root_gpu *r);

/** Whether a slab, or the lines of a home, are of this rank. */
static inline bool root_is_own(const struct root_gpu *r, uint32_t part) {
  return part >= r->first && part < r->first + r->homes;
}
/** The rank that has them. */
static inline int root_rank(const struct root_gpu *r, uint32_t part) {
  return (int)(part / r->homes);
}

/** Planes of an own batch. */
static inline struct gpu_root_planes root_own_planes(const struct root_gpu *r, uint32_t batch) {
  return r->own[batch - r->first_batch];
}

/** Part of n planes or lines in parts of `each`, of which the last may have fewer, or none. */
static inline struct gpu_root_planes root_range(uint32_t n, uint32_t each, uint32_t part) {
  const uint32_t first = part * each, end = first + each;
  return (struct gpu_root_planes){first < n ? first : n, end < n ? end : n};
}
/** Planes of a slab, and lines of a home, in the mesh. */
static inline struct gpu_root_planes root_planes(const struct root_gpu *r, uint32_t part) {
  return root_range(r->planes, r->size.planes, part);
}
static inline struct gpu_root_planes root_lines(const struct root_gpu *r, uint32_t part) {
  return root_range(r->size.size[1], r->size.lines, part);
}

/** The mean density over the root level of the only rank, by root_gpu.sum. */
double root_mean_of_own(const struct gas *g, const double *sum);
/** Find the source in a batch of the root level: POTENTIAL_NEXT, and root_gpu.sum.
 * @param massive  with pseudo-mass */
void gas_root_source_submit(struct gas *g, const struct root_gpu *r, uint32_t batch, bool massive);
/** The stages of the same on several GPUs, of each part of this rank. */
void gas_root_rows_submit(struct gas *g, const struct root_gpu *r, uint32_t part);
void gas_root_lines_submit(struct gas *g, const struct root_gpu *r, uint32_t part);
void gas_root_back_submit(struct gas *g, const struct root_gpu *r, uint32_t part);
/** Copy potentials to the batches of a home, some at least. */
void gas_root_get_submit(struct gas *g, const struct root_gpu *r, uint32_t home);
/** The same of a batch of another rank, in the planes of this rank. */
void gas_root_lend_submit(struct gas *g, const struct root_gpu *r, const struct root_guest *guest);
/** Solve the root level. Sets root_gpu.sum; in a chain of tasks self_gravity.mean_density as well, unless there is
 * pseudo-mass. @param massive  with pseudo-mass */
void gas_root_solve_submit(struct gas *g, const struct root_gpu *r, bool massive);

#endif
