/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The root level's potential on GPUs, where one rank has the whole level: on one GPU, or, with a home for
 * each of several GPUs, on all of them. */
#ifndef PHOTONS_POTENTIAL_ROOT_GPU_H
#define PHOTONS_POTENTIAL_ROOT_GPU_H

#include <starpu.h>
#include <stdbool.h>

#include "cuda/potential/gpu_potential.h"

struct gas;

struct root_gpu {
  struct gpu_root_size size;
  struct gpu_root **worker;         /**< [worker] plans; NULL of those that are cores */
  starpu_data_handle_t mesh, green; /**< green: NULL where the box is periodic */
  size_t mesh_bytes;
  uint32_t parts; /**< slabs, one a home; 0: one GPU has the whole mesh */
  starpu_data_handle_t *slab, *lines, *piece; /**< [part], [part], [slab][lines]; see
                                                   codelets/potential/root_slabs.h */
  double *sum;                                /**< [group] of |density|, in page-locked memory */
  uint32_t groups;
};

/** @param size   of the transforms
 * @param green  as gpu_root_solve() takes it, in host memory; NULL: the box is periodic
 * @return NULL: this rank has no GPU, or there are several ranks */
struct root_gpu *root_gpu_make(const struct gas *g, const uint32_t size[3], double *green);
/** @param r  may be NULL */
void root_gpu_free(struct root_gpu *r);

/** Find the source in a batch of the root level: POTENTIAL_NEXT, and root_gpu.sum.
 * @param massive  with pseudo-mass */
void gas_root_source_submit(struct gas *g, const struct root_gpu *r, uint32_t batch, bool massive);
/** The stages of the same on several GPUs, of each part or batch. */
void gas_root_rows_submit(struct gas *g, const struct root_gpu *r, uint32_t part);
void gas_root_lines_submit(struct gas *g, const struct root_gpu *r, uint32_t part);
void gas_root_back_submit(struct gas *g, const struct root_gpu *r, uint32_t part);
void gas_root_get_submit(struct gas *g, const struct root_gpu *r, uint32_t batch);
/** Solve the root level. Sets root_gpu.sum. @param massive  with pseudo-mass */
void gas_root_solve_submit(struct gas *g, const struct root_gpu *r, bool massive);

#endif
