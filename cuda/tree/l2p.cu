/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2p, l2p_potential: one warp for each leaf. Before l2p_potential one thread for each child adds
 * up L_0 (fmm.h), level by level. */
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/levels.cuh"
#include "photons/domain/geometry.h"

enum { BLOCK = 128 };

/** Add to a child's L_0 the potential of its parent's expansion at the child's centre. The parent's
 * L_0 is part of that potential. */
template <int P> struct constant_from_parent {
  float scale;
  const struct node *nodes;
  const float *local;
  float *constant;

  __device__ void operator()(uint32_t child) const {
    const uint32_t parent = child / 2;
    float r[3], sum = 0.0f;
    for (int c = 0; c < 3; c++) r[c] = centre_difference(&nodes[child], &nodes[parent], c, scale);
    EXPANSION(P, l2p_potential, local + (size_t)parent * expansion<P>::local, r[0], r[1], r[2],
              &sum);
    constant[child] += constant[parent] + sum;
  }
};

/** Add to each particle factor * gradient of its leaf's expansion, or factor * potential.
 * @tparam POTENTIAL  which of the two
 * @param sum       [count] potentials; or accelerations, component c at sum + c * count
 * @param constant  [tree_nodes(depth)] L_0 of the nodes; unused without POTENTIAL */
template <int P, bool POTENTIAL>
static __global__ void l2p(uint32_t count, unsigned depth, const uint32_t *__restrict__ first,
                           float scale, float factor, const uint32_t *__restrict__ x,
                           const struct node *__restrict__ nodes, const float *__restrict__ local,
                           float *__restrict__ sum, const float *__restrict__ constant) {
  const uint32_t leaves = 1u << depth, leaf = (blockIdx.x * BLOCK + threadIdx.x) / WARP,
                 lane = threadIdx.x % WARP;
  if (leaf >= leaves) return;
  const uint32_t *centre = nodes[leaves + leaf].centre,
                 end = tree_level_first(count, depth, first, depth, leaf + 1);
  const float *l = local + (size_t)(leaves + leaf) * expansion<P>::local;
  for (uint32_t i = tree_level_first(count, depth, first, depth, leaf) + lane; i < end; i += WARP) {
    float d[3];
    for (int c = 0; c < 3; c++)
      d[c] = scale * (float)position_difference(x[(size_t)c * count + i], centre[c]);
    if constexpr (POTENTIAL) {
      float potential = constant[leaves + leaf];
      EXPANSION(P, l2p_potential, l, d[0], d[1], d[2], &potential);
      sum[i] += factor * potential;
    } else {
      float a[3];
      EXPANSION(P, l2p, l, d[0], d[1], d[2], a);
      for (int c = 0; c < 3; c++) sum[(size_t)c * count + i] += factor * a[c];
    }
  }
}

template <int P>
static void launch(struct gpu *g, uint32_t count, unsigned depth, const uint32_t *first,
                   float scale, float factor, const uint32_t *x, const struct node *nodes,
                   const float *local, float *acceleration) {
  l2p<P, false><<<blocks_for((uint64_t)WARP << depth, BLOCK), BLOCK, 0, g->stream>>>(
      count, depth, first, scale, factor, x, nodes, local, acceleration, nullptr);
  gpu_launched("l2p");
}

template <int P>
static void launch_potential(struct gpu *g, uint32_t count, unsigned depth, float scale,
                             float factor, const uint32_t *x, const struct node *nodes,
                             const float *local, float *constant, float *potential) {
  downward(g, 1, depth, constant_from_parent<P>{scale, nodes, local, constant});
  l2p<P, true><<<blocks_for((uint64_t)WARP << depth, BLOCK), BLOCK, 0, g->stream>>>(
      count, depth, nullptr, scale, factor, x, nodes, local, potential, constant);
  gpu_launched("l2p_potential");
}

void gpu_l2p(struct gpu *g, int order, uint32_t count, unsigned depth, const uint32_t *first,
             float scale, float factor, const uint32_t *x, const struct node *nodes,
             const float *local, float *acceleration) {
  FOR_ORDER(order, launch, g, count, depth, first, scale, factor, x, nodes, local, acceleration);
}

void gpu_l2p_potential(struct gpu *g, int order, uint32_t count, unsigned depth, float scale,
                       float factor, const uint32_t *x, const struct node *nodes,
                       const float *local, float *constant, float *potential) {
  FOR_ORDER(order, launch_potential, g, count, depth, scale, factor, x, nodes, local, constant,
            potential);
}
