/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m: one thread for each parent, level by level. */
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/levels.cuh"

template <int P> struct to_parent {
  float scale;
  const struct node *nodes;
  float *multipole;

  __device__ void operator()(uint32_t parent) const {
    constexpr int size = expansion<P>::multipole;
    float m[size];
#pragma unroll
    for (int k = 0; k < size; k++) m[k] = 0.0f;
    for (uint32_t child = 2 * parent; child <= 2 * parent + 1; child++) {
      float r[3];
      for (int c = 0; c < 3; c++) r[c] = centre_difference(&nodes[parent], &nodes[child], c, scale);
      EXPANSION(P, m2m, r[0], r[1], r[2], multipole + (size_t)child * size, m);
    }
#pragma unroll
    for (int k = 0; k < size; k++) multipole[(size_t)parent * size + k] = m[k];
  }
};

template <int P>
static void launch(struct gpu *g, unsigned depth, float scale, const struct node *nodes,
                   float *multipole) {
  upward(g, depth - 1, to_parent<P>{scale, nodes, multipole});
}

void gpu_m2m(struct gpu *g, int order, unsigned depth, float scale, const struct node *nodes,
             float *multipole) {
  if (depth > 0) FOR_ORDER(order, launch, g, depth, scale, nodes, multipole);
}
