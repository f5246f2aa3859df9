/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of halos in a task. */
#ifndef PHOTONS_HALO_PART_CUH
#define PHOTONS_HALO_PART_CUH

#include "cuda/analysis/gpu_analysis.h"

/** The tree that has a row. */
static __device__ inline struct part_tree part_tree_of(const struct halo_part &p, uint32_t row) {
  uint32_t first = 0, end = p.trees;
  while (end - first > 1) {
    const uint32_t middle = first + (end - first) / 2;
    if (p.tree[middle].first <= row)
      first = middle;
    else
      end = middle;
  }
  return p.tree[first];
}

#endif
