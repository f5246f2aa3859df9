/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the domain on a GPU; see photons/runtime/gpu.h. */
#ifndef PHOTONS_CUDA_DOMAIN_H
#define PHOTONS_CUDA_DOMAIN_H

#include <stdint.h>

#include "photons/domain/group_cut.h"
#include "photons/domain/particles.h"
#include "photons/domain/tree.h"
#include "photons/runtime/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sort a group's particles into its tree as group_sort() does, except that below the leaves it
 * ends at the P2P target block, and that a cut may miss the median by 2^-16 of the node's side, of small nodes 2^-14.
 * @param depth  of the tree
 * @param nodes  of the last refit; the sort needs the centre of the root */
void gpu_sort(struct gpu *g, uint32_t count, unsigned depth, const struct node *nodes,
              void *const column[PARTICLE_COLUMN_COUNT]);

/** Copy elements of an array to packed ones, or back.
 * @param run   [runs] of at least one element each
 * @param size  bytes of an element, of 4-byte words
 * @param cut   to packed ones */
void gpu_copy_runs(struct gpu *g, const struct array_run *run, uint32_t runs, size_t size,
                   void *packed, void *array, bool cut);

/** Sort a group's particles by their side: group_order(). */
void gpu_order(struct gpu *g, uint32_t count, const uint16_t *side, uint32_t sides,
               void *const column[PARTICLE_COLUMN_COUNT]);

/** Count the values of a digit of medians (group_cut.h).
 * @param x          [3][count]
 * @param cut        [sides], host memory
 * @param histogram  [rows][DIGIT_VALUES] */
void gpu_cut_count(struct gpu *g, uint32_t count, const uint32_t *x, const uint16_t *side,
                   const struct node_cut *cut, uint32_t sides, uint32_t rows, int digit,
                   uint32_t *histogram);
/** Send particles to the sides of cuts, or to side 0.
 * @param cut   [sides], host memory, or NULL
 * @param part  [2 rows] */
void gpu_cut_send(struct gpu *g, uint32_t count, const uint32_t *x, uint16_t *side,
                  const struct node_cut *cut, uint32_t sides, uint32_t rows,
                  struct node_part *part);
/** Gather the segments of a column.
 * @param segment  [segments], host memory; `from` is in device memory
 * @param to       [components][count] */
void gpu_move(struct gpu *g, const struct segment *segment, uint32_t segments, uint32_t count,
              const struct particle_column *column, void *to);

#ifdef __cplusplus
}
#endif

#endif
