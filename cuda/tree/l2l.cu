/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2l: a lane for each child, level by level (translate.cuh). */
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/translate.cuh"

/** Levels root .. last of the tree. */
template <int P>
static __global__ void __launch_bounds__(WARP)
    l2l(unsigned root, unsigned last, float scale, const struct node *__restrict__ nodes,
        float *__restrict__ local) {
  constexpr int size = expansion<P>::local /* without the constant term */,
                stride = row_stride<size>;
  __shared__ float rows[stride << SUBTREE]; /* first the parent of the subtree's root */
  const uint32_t top = (1u << root) + blockIdx.x, lane = threadIdx.x, all = 1u << (last - root);
  rows_in<size>(rows, local + (size_t)(top / 2) * size, 1);
  for (uint32_t width = 1; width <= all; width *= 2)
    rows_in<size>(rows + width * stride, local + (size_t)top * width * size, width);
  copies_wait();
  __syncwarp();
  for (uint32_t width = 1; width <= all; width *= 2) {
    if (lane < width) {
      const uint32_t child = width + lane;
      const float *from = rows + child / 2 * stride;
      float *to = rows + child * stride, r[3], value[size + 1];
      place_of(nodes, top * width + lane, scale, r);
      value[0] = 0.0f;
#pragma unroll
      for (int k = 0; k < size; k++) value[k + 1] = from[k];
      translate<P, false>(r, value);
#pragma unroll
      for (int k = 0; k < size; k++) to[k] += value[k + 1];
    }
    __syncwarp();
  }
  for (uint32_t width = 1; width <= all; width *= 2)
    rows_out<size>(rows + width * stride, local + (size_t)top * width * size, width);
}

template <int P>
static void launch(struct gpu *g, unsigned depth, float scale, const struct node *nodes,
                   float *local) {
  subtrees_downward(1, depth, [&](unsigned root, unsigned last) {
    l2l<P><<<1u << root, WARP, 0, g->stream>>>(root, last, scale, nodes, local);
    gpu_launched("l2l");
  });
}

void gpu_l2l(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *local) {
  if (depth > 0) FOR_ORDER(order, launch, g, depth, scale, nodes, local);
}
