/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m: a warp for each parent, level by level (translate.cuh). */
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/translate.cuh"

/** Levels root .. last of the tree, from the level below them. */
template <int P>
static __global__ void m2m(unsigned root, unsigned last, float scale,
                           const struct node *__restrict__ nodes, float *__restrict__ multipole) {
  constexpr int size = expansion<P>::multipole;
  __shared__ float rows[2 * size << SUBTREE];
  __shared__ float place[2 << SUBTREE][3], work[TRANSLATE_BLOCK / WARP][size];
  const uint32_t warp = threadIdx.x / WARP;
  const unsigned levels = last - root + 1;
  const struct lane_terms<P - 1> terms;
  place_nodes(nodes, (1u << root) + blockIdx.x, 2, 2u << levels, -scale, place);
  each_float<size>(root, levels, levels + 1,
                   [&](size_t tree, uint32_t own) { rows[own] = multipole[tree]; });
  __syncthreads();
  for (unsigned level = levels; level-- > 0;) {
    const uint32_t width = 1u << level;
    for (uint32_t parent = width + warp; parent < 2 * width; parent += TRANSLATE_BLOCK / WARP)
      for (uint32_t child = 2 * parent; child <= 2 * parent + 1; child++) {
        const float *from = rows + child * size;
        float *to = rows + parent * size;
        const bool second = child & 1;
        translate<P - 1, true>(
            terms, place[child], work[warp], [&](int k) { return from[k]; },
            [&](int k, float sum) { to[k] = second ? to[k] + sum : sum; });
      }
    __syncthreads();
  }
  each_float<size>(root, 0, levels,
                   [&](size_t tree, uint32_t own) { multipole[tree] = rows[own]; });
}

template <int P>
static void launch(struct gpu *g, unsigned depth, float scale, const struct node *nodes,
                   float *multipole) {
  subtrees_upward(depth - 1, [&](unsigned root, unsigned last) {
    m2m<P><<<1u << root, TRANSLATE_BLOCK, 0, g->stream>>>(root, last, scale, nodes, multipole);
    gpu_launched("m2m");
  });
}

void gpu_m2m(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *multipole) {
  if (depth > 0) FOR_ORDER(order, launch, g, depth, scale, nodes, multipole);
}
