/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2m: one warp for each leaf. */
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/rows.cuh"
#include "photons/domain/geometry.h"

enum { BLOCK = 128 };

template <int P>
static __global__ void p2m(uint32_t count, unsigned depth, float scale,
                           const uint32_t *__restrict__ x, const float *__restrict__ mass,
                           const struct node *__restrict__ nodes, float *__restrict__ multipole) {
  const uint32_t leaves = 1u << depth, leaf = (blockIdx.x * BLOCK + threadIdx.x) / WARP,
                 lane = threadIdx.x % WARP;
  if (leaf >= leaves) return;
  const uint32_t *centre = nodes[leaves + leaf].centre, end = level_first(count, depth, leaf + 1);
  float m[expansion<P>::multipole];
#pragma unroll
  for (int k = 0; k < expansion<P>::multipole; k++) m[k] = 0.0f;
  for (uint32_t i = level_first(count, depth, leaf) + lane; i < end; i += WARP) {
    float d[3];
    for (int c = 0; c < 3; c++)
      d[c] = -scale * (float)position_difference(x[(size_t)c * count + i], centre[c]);
    EXPANSION(P, p2m, d[0], d[1], d[2], mass ? mass[i] : 1.0f, m);
  }
  store_sums<expansion<P>::multipole>(m, multipole +
                                             (size_t)(leaves + leaf) * expansion<P>::multipole);
}

template <int P>
static void launch(struct gpu *g, uint32_t count, unsigned depth, float scale, const uint32_t *x,
                   const float *mass, const struct node *nodes, float *multipole) {
  p2m<P><<<blocks_for((uint64_t)WARP << depth, BLOCK), BLOCK, 0, g->stream>>>(
      count, depth, scale, x, mass, nodes, multipole);
  gpu_launched("p2m");
}

void gpu_p2m(struct gpu *g, int order, uint32_t count, unsigned depth, float scale,
             const uint32_t *x, const float *mass, const struct node *nodes, float *multipole) {
  FOR_ORDER(order, launch, g, count, depth, scale, x, mass, nodes, multipole);
}
