/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interaction lists in memory that kernels can read. */
#ifndef PHOTONS_CUDA_LISTS_CUH
#define PHOTONS_CUDA_LISTS_CUH

#include "cuda/runtime/gpu.cuh"
#include "photons/tree/interaction_list.h"

/** Offsets and entries in device memory. */
struct device_list {
  const uint32_t *offset, *entry;
};

/** The list itself if it is in device memory, or a copy of it in SCRATCH_LIST.
 * @param targets  number of targets whose offsets the list has */
static inline struct device_list gpu_list(struct gpu *g, const struct interaction_list *list,
                                          uint32_t targets) {
  if (list->on_gpu) return {list->offset, list->entry};
  const size_t offset_bytes = ((size_t)targets + 1) * sizeof *list->offset,
               entry_bytes = list->entries * sizeof *list->entry;
  uint32_t *copy = (uint32_t *)gpu_scratch(g, SCRATCH_LIST, offset_bytes + entry_bytes);
  CHECK_CUDA(cudaMemcpyAsync(copy, list->offset, offset_bytes, cudaMemcpyHostToDevice, g->stream));
  if (entry_bytes)
    CHECK_CUDA(cudaMemcpyAsync(copy + targets + 1, list->entry, entry_bytes, cudaMemcpyHostToDevice,
                               g->stream));
  return {copy, copy + targets + 1};
}

#endif
