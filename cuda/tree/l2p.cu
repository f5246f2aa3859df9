/* SPDX-License-Identifier: GPL-3.0-or-later */
/* l2p: one warp for each leaf. */
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/gpu_tree.h"
#include "photons/domain/geometry.h"

enum { BLOCK = 128 };

template <int P>
static __global__ void l2p(uint32_t count, unsigned depth, const uint32_t *__restrict__ first,
                           float scale, float factor, const uint32_t *__restrict__ x,
                           const struct node *__restrict__ nodes, const float *__restrict__ local,
                           float *__restrict__ acceleration) {
  const uint32_t leaves = 1u << depth, leaf = (blockIdx.x * BLOCK + threadIdx.x) / WARP,
                 lane = threadIdx.x % WARP;
  if (leaf >= leaves) return;
  const uint32_t *centre = nodes[leaves + leaf].centre,
                 end = tree_level_first(count, depth, first, depth, leaf + 1);
  const float *l = local + (size_t)(leaves + leaf) * expansion<P>::local;
  for (uint32_t i = tree_level_first(count, depth, first, depth, leaf) + lane; i < end; i += WARP) {
    float d[3], a[3];
    for (int c = 0; c < 3; c++)
      d[c] = scale * (float)position_difference(x[(size_t)c * count + i], centre[c]);
    EXPANSION(P, l2p, l, d[0], d[1], d[2], a);
    for (int c = 0; c < 3; c++) acceleration[(size_t)c * count + i] += factor * a[c];
  }
}

template <int P>
static void launch(struct gpu *g, uint32_t count, unsigned depth, const uint32_t *first,
                   float scale, float factor, const uint32_t *x, const struct node *nodes,
                   const float *local, float *acceleration) {
  l2p<P><<<blocks_for((uint64_t)WARP << depth, BLOCK), BLOCK, 0, g->stream>>>(
      count, depth, first, scale, factor, x, nodes, local, acceleration);
  gpu_launched("l2p");
}

void gpu_l2p(struct gpu *g, int order, uint32_t count, unsigned depth, const uint32_t *first,
             float scale, float factor, const uint32_t *x, const struct node *nodes,
             const float *local, float *acceleration) {
  FOR_ORDER(order, launch, g, count, depth, first, scale, factor, x, nodes, local, acceleration);
}
