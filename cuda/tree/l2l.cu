/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2l: a warp for each child, level by level (translate.cuh). */
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/translate.cuh"

/** Levels root .. last of the tree. */
template <int P>
static __global__ void l2l(unsigned root, unsigned last, float scale,
                           const struct node *__restrict__ nodes, float *__restrict__ local) {
  constexpr int size = expansion<P>::local; /* without the constant term */
  __shared__ float rows[size << SUBTREE];   /* first the parent of the subtree's root */
  __shared__ float place[1 << SUBTREE][3], work[TRANSLATE_BLOCK / WARP][size + 1];
  const uint32_t top = (1u << root) + blockIdx.x, warp = threadIdx.x / WARP;
  const unsigned levels = last - root + 1;
  const struct lane_terms<P> terms;
  place_nodes(nodes, top, 1, 1u << levels, scale, place);
  for (uint32_t k = threadIdx.x; k < size; k += TRANSLATE_BLOCK)
    rows[k] = local[(size_t)(top / 2) * size + k];
  each_float<size>(root, 0, levels, [&](size_t tree, uint32_t own) { rows[own] = local[tree]; });
  __syncthreads();
  for (unsigned level = 0; level < levels; level++) {
    const uint32_t width = 1u << level;
    for (uint32_t child = width + warp; child < 2 * width; child += TRANSLATE_BLOCK / WARP) {
      const float *from = rows + child / 2 * size;
      float *to = rows + child * size;
      translate<P, false>(
          terms, place[child], work[warp], [&](int k) { return k > 0 ? from[k - 1] : 0.0f; },
          [&](int k, float sum) {
            if (k > 0) to[k - 1] += sum;
          });
    }
    __syncthreads();
  }
  each_float<size>(root, 0, levels, [&](size_t tree, uint32_t own) { local[tree] = rows[own]; });
}

template <int P>
static void launch(struct gpu *g, unsigned depth, float scale, const struct node *nodes,
                   float *local) {
  subtrees_downward(1, depth, [&](unsigned root, unsigned last) {
    l2l<P><<<1u << root, TRANSLATE_BLOCK, 0, g->stream>>>(root, last, scale, nodes, local);
    gpu_launched("l2l");
  });
}

void gpu_l2l(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *local) {
  if (depth > 0) FOR_ORDER(order, launch, g, depth, scale, nodes, local);
}
