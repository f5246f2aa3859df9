/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Visit the nodes of a tree level by level: children before their parents (upward) or after them
 * (downward). One launch visits up to SUBTREE levels. Each of its CUDA blocks visits one subtree,
 * without waiting for other blocks. */
#ifndef PHOTONS_LEVELS_CUH
#define PHOTONS_LEVELS_CUH

#include "cuda/runtime/gpu.cuh"

enum { SUBTREE = 6, LEVEL_BLOCK = 64 };

template <typename Visit>
static __global__ void visit_upward(unsigned root_level, unsigned lowest, Visit visit) {
  for (unsigned level = lowest + 1; level-- > root_level;) {
    const uint32_t width = 1u << (level - root_level), first = (1u << level) + blockIdx.x * width;
    for (uint32_t i = threadIdx.x; i < width; i += blockDim.x) visit(first + i);
    __syncthreads();
  }
}

template <typename Visit>
static __global__ void visit_downward(unsigned root_level, unsigned lowest, Visit visit) {
  for (unsigned level = root_level; level <= lowest; level++) {
    const uint32_t width = 1u << (level - root_level), first = (1u << level) + blockIdx.x * width;
    for (uint32_t i = threadIdx.x; i < width; i += blockDim.x) visit(first + i);
    __syncthreads();
  }
}

/** Call launch(root, last) for subtrees of levels root .. last, which together cover the levels
 * lowest .. 0, children before their parents. */
template <typename Launch> static void subtrees_upward(unsigned lowest, Launch launch) {
  for (;;) {
    const unsigned root = lowest < SUBTREE ? 0 : lowest - SUBTREE + 1;
    launch(root, lowest);
    if (root == 0) return;
    lowest = root - 1;
  }
}

/** The same for the levels highest .. lowest, parents before their children. Only the highest subtrees have fewer levels
 * than SUBTREE: most nodes are in the lowest ones. */
template <typename Launch>
static void subtrees_downward(unsigned highest, unsigned lowest, Launch launch) {
  for (unsigned root = highest, levels = (lowest - highest) % SUBTREE + 1; root <= lowest;
       root += levels, levels = SUBTREE)
    launch(root, root + levels - 1);
}

/** Call visit(node) for the nodes of levels lowest .. 0. */
template <typename Visit> static void upward(struct gpu *g, unsigned lowest, Visit visit) {
  subtrees_upward(lowest, [&](unsigned root, unsigned last) {
    visit_upward<<<1u << root, LEVEL_BLOCK, 0, g->stream>>>(root, last, visit);
    gpu_launched("upward pass");
  });
}

/** Call visit(node) for the nodes of levels highest .. lowest. */
template <typename Visit>
static void downward(struct gpu *g, unsigned highest, unsigned lowest, Visit visit) {
  subtrees_downward(highest, lowest, [&](unsigned root, unsigned last) {
    visit_downward<<<1u << root, LEVEL_BLOCK, 0, g->stream>>>(root, last, visit);
    gpu_launched("downward pass");
  });
}

#endif
