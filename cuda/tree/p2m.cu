/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p2m: a warp, which is a CUDA block, for as many leaves as it has lanes. It copies some particles of each leaf to shared
 * memory, and then each lane takes those of its own leaf. */
#include "cuda/tree/expansion.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/rows.cuh"
#include "photons/domain/geometry.h"

/** Where a particle of a lane's leaf is in shared memory: lanes that read the same one of their leaves use different
 * banks. */
static __device__ inline uint32_t slot_of(uint32_t lane, uint32_t particle) {
  return lane * WARP + (particle + lane) % WARP;
}

template <int P>
static __global__ void __launch_bounds__(WARP)
    p2m(uint32_t count, unsigned depth, float scale, const uint32_t *__restrict__ x,
        const float *__restrict__ mass, const struct node *__restrict__ nodes,
        float *__restrict__ multipole) {
  constexpr int size = expansion<P>::multipole, stride = row_stride<size>;
  __shared__ union {
    struct {
      uint32_t x[3][WARP * WARP];
      float mass[WARP * WARP];
    } particle;
    float rows[WARP * stride];
  } work;
  const uint32_t leaves = 1u << depth, block = blockIdx.x * WARP, lane = threadIdx.x,
                 leaf = min(block + lane, leaves - 1), own = min(leaves - block, (uint32_t)WARP),
                 first = level_first(count, depth, leaf),
                 n = level_first(count, depth, leaf + 1) - first, most = warp_max(n),
                 *centre = nodes[leaves + leaf].centre;
  float m[size];
#pragma unroll
  for (int k = 0; k < size; k++) m[k] = 0.0f;
  for (uint32_t done = 0; done < most; done += WARP) {
    for (uint32_t l = 0; l < own; l++) {
      const uint32_t from = __shfl_sync(~0u, first, l) + done + lane,
                     of_leaf = __shfl_sync(~0u, n, l);
      if (done + lane >= of_leaf) continue;
      const uint32_t to = slot_of(l, lane);
      for (int c = 0; c < 3; c++) copy_ahead(&work.particle.x[c][to], &x[(size_t)c * count + from]);
      if (mass) copy_ahead(&work.particle.mass[to], &mass[from]);
    }
    copies_wait();
    __syncwarp();
    for (uint32_t i = 0; i < WARP && done + i < n; i++) {
      const uint32_t at = slot_of(lane, i);
      float d[3];
      for (int c = 0; c < 3; c++)
        d[c] = -scale * (float)position_difference(work.particle.x[c][at], centre[c]);
      EXPANSION(P, p2m, d[0], d[1], d[2], mass ? work.particle.mass[at] : 1.0f, m);
    }
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < size; k++) work.rows[lane * stride + k] = m[k];
  __syncwarp();
  rows_out<size>(work.rows, multipole + (size_t)(leaves + block) * size, own);
}

template <int P>
static void launch(struct gpu *g, uint32_t count, unsigned depth, float scale, const uint32_t *x,
                   const float *mass, const struct node *nodes, float *multipole) {
  p2m<P><<<blocks_for(1ull << depth, WARP), WARP, 0, g->stream>>>(count, depth, scale, x, mass,
                                                                  nodes, multipole);
  gpu_launched("p2m");
}

void gpu_p2m(struct gpu *g, int order, uint32_t count, unsigned depth, float scale,
             const uint32_t *x, const float *mass, const struct node *nodes, float *multipole) {
  FOR_ORDER(order, launch, g, count, depth, scale, x, mass, nodes, multipole);
}
