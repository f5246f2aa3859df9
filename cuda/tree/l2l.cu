/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2l: one thread for each child, level by level. */
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/levels.cuh"

template <int P> struct from_parent {
  float scale;
  const struct node *nodes;
  float *local;

  __device__ void operator()(uint32_t child) const {
    constexpr int size = expansion<P>::local;
    float l[size], r[3];
#pragma unroll
    for (int k = 0; k < size; k++) l[k] = local[(size_t)child * size + k];
    for (int c = 0; c < 3; c++)
      r[c] = centre_difference(&nodes[child], &nodes[child / 2], c, scale);
    EXPANSION(P, l2l, r[0], r[1], r[2], local + (size_t)(child / 2) * size, l);
#pragma unroll
    for (int k = 0; k < size; k++) local[(size_t)child * size + k] = l[k];
  }
};

template <int P>
static void launch(struct gpu *g, unsigned depth, float scale, const struct node *nodes,
                   float *local) {
  downward(g, 1, depth, from_parent<P>{scale, nodes, local});
}

void gpu_l2l(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *local) {
  if (depth > 0) FOR_ORDER(order, launch, g, depth, scale, nodes, local);
}
