/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the domain on a GPU; see photons/runtime/gpu.h. */
#ifndef PHOTONS_CUDA_DOMAIN_H
#define PHOTONS_CUDA_DOMAIN_H

#include <stdint.h>

#include "photons/domain/particles.h"
#include "photons/domain/tree.h"
#include "photons/runtime/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** As group_sort(), but that nodes end at the blocks of targets of direct sums on GPUs, and that they
 * are cut within 2^-16 of their side from the median.
 * @param nodes  of the last refit, for the centre of the first */
void gpu_sort(struct gpu *g, uint32_t count, const struct node *nodes,
              void *const column[PARTICLE_COLUMN_COUNT]);

#ifdef __cplusplus
}
#endif

#endif
