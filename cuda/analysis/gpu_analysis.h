/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of pictures and halos on a GPU; see photons/runtime/gpu.h. */
#ifndef PHOTONS_CUDA_ANALYSIS_H
#define PHOTONS_CUDA_ANALYSIS_H

#include "photons/runtime/gpu.h"
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

#ifdef __cplusplus
}
#endif

#endif
