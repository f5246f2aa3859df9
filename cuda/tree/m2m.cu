/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m: a lane for each parent, level by level (translate.cuh). */
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/translate.cuh"

/** Levels root .. last of the tree, from the level below them. */
template <int P>
static __global__ void __launch_bounds__(WARP)
    m2m(unsigned root, unsigned last, float scale, const struct node *__restrict__ nodes,
        float *__restrict__ multipole) {
  constexpr int size = expansion<P>::multipole, stride = row_stride<size>;
  __shared__ float rows[2 * stride << SUBTREE];
  const uint32_t top = (1u << root) + blockIdx.x, lane = threadIdx.x, all = 1u << (last - root);
  rows_in<size>(rows + 2 * all * stride, multipole + (size_t)top * 2 * all * size, 2 * all);
  copies_wait();
  __syncwarp();
  for (uint32_t width = all; width > 0; width /= 2) {
    if (lane < width) {
      float sum[size];
#pragma unroll
      for (uint32_t second = 0; second < 2; second++) {
        const float *from = rows + (2 * (width + lane) + second) * stride;
        float r[3], value[size];
        place_of(nodes, 2 * (top * width + lane) + second, -scale, r);
#pragma unroll
        for (int k = 0; k < size; k++) value[k] = from[k];
        translate<P - 1, true>(r, value);
#pragma unroll
        for (int k = 0; k < size; k++) sum[k] = second ? sum[k] + value[k] : value[k];
      }
#pragma unroll
      for (int k = 0; k < size; k++) rows[(width + lane) * stride + k] = sum[k];
    }
    __syncwarp();
  }
  for (uint32_t width = 1; width <= all; width *= 2)
    rows_out<size>(rows + width * stride, multipole + (size_t)top * width * size, width);
}

template <int P>
static void launch(struct gpu *g, unsigned depth, float scale, const struct node *nodes,
                   float *multipole) {
  subtrees_upward(depth - 1, [&](unsigned root, unsigned last) {
    m2m<P><<<1u << root, WARP, 0, g->stream>>>(root, last, scale, nodes, multipole);
    gpu_launched("m2m");
  });
}

void gpu_m2m(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *multipole) {
  if (depth > 0) FOR_ORDER(order, launch, g, depth, scale, nodes, multipole);
}
