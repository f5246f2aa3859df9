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

/** Sort a group's particles into its tree as group_sort() does, except that below the leaves it
 * ends at the P2P target block, and that a cut may miss the median by 2^-16 of the node's side.
 * @param depth  of the tree
 * @param nodes  of the last refit; the sort needs the centre of the root */
void gpu_sort(struct gpu *g, uint32_t count, unsigned depth, const struct node *nodes,
              void *const column[PARTICLE_COLUMN_COUNT]);

#ifdef __cplusplus
}
#endif

#endif
