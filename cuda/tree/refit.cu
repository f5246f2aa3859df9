/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refit: one warp for each leaf, then the parents level by level (levels.cuh). */
#include <float.h>

#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/gpu_tree.h"
#include "cuda/tree/levels.cuh"
#include "photons/domain/geometry.h"

#define ROUND_UP \
  1.000001f /* floats converted from integers may round down, but boxes must not
                              shrink */

static __global__ void refit_leaves(uint32_t count, unsigned depth,
                                    const uint32_t *__restrict__ table, float scale, float acc_unit,
                                    bool least, const uint32_t *__restrict__ x,
                                    const float *__restrict__ acceleration, struct node *nodes) {
  const uint32_t leaves = 1u << depth, leaf = (blockIdx.x * blockDim.x + threadIdx.x) / WARP,
                 lane = threadIdx.x % WARP;
  if (leaf >= leaves) return;
  const uint32_t first = tree_level_first(count, depth, table, depth, leaf),
                 end = tree_level_first(count, depth, table, depth, leaf + 1);
  if (table && first == end) return;
  struct node node;
  for (uint32_t c = 0; c < 3; c++) {
    const uint32_t *xc = x + (size_t)c * count, reference = xc[first];
    int low = 0, high = 0;
    for (uint32_t i = first + lane; i < end; i += WARP) {
      const int d = position_difference(xc[i], reference);
      low = min(low, d);
      high = max(high, d);
    }
    low = warp_min(low);
    high = warp_max(high);
    const int64_t middle = ((int64_t)low + high) / 2;
    const int64_t half = max(high - middle, middle - low);
    node.centre[c] = reference + (uint32_t)middle;
    node.half[c] = (float)half * scale * ROUND_UP;
  }
  float radius2 = 0.0f, acc2 = 0.0f, least2 = INFINITY;
  for (uint32_t i = first + lane; i < end; i += WARP) {
    float r2 = 0.0f, a2 = 0.0f;
    for (uint32_t c = 0; c < 3; c++) {
      const float d = (float)position_difference(x[(size_t)c * count + i], node.centre[c]) * scale,
                  a = acceleration[(size_t)c * count + i];
      r2 += d * d;
      a2 += a * a;
    }
    radius2 = fmaxf(radius2, r2);
    acc2 += a2;
    if (a2 > 0.0f) least2 = fminf(least2, a2);
  }
  node.radius = sqrtf(warp_max_positive(radius2)) * ROUND_UP;
  if (least) {
    least2 = warp_min_positive(least2);
    acc2 = least2 < INFINITY ? least2 : 0.0f;
  } else {
    acc2 = warp_sum(acc2) / (float)(end - first);
  }
  node.acc_min = end > first ? sqrtf(acc2) * acc_unit : FLT_MAX;
  if (lane == 0) nodes[leaves + leaf] = node;
}

/** The union of two boxes relative to the centre of the first, correct across the periodic edge.
 * Nodes without particles have no boxes. */
struct refit_parent {
  uint32_t count;
  unsigned depth;
  const uint32_t *first;
  float scale;
  struct node *nodes;

  __device__ bool has_particles(uint32_t i) const {
    return tree_node_count(count, depth, first, i) > 0;
  }

  __device__ void operator()(uint32_t i) const {
    if (first && !(has_particles(2 * i) && has_particles(2 * i + 1))) {
      if (has_particles(i)) nodes[i] = nodes[has_particles(2 * i) ? 2 * i : 2 * i + 1];
      return;
    }
    const struct node a = nodes[2 * i], b = nodes[2 * i + 1];
    struct node parent;
    float half2 = 0.0f, da2 = 0.0f, db2 = 0.0f;
    for (int c = 0; c < 3; c++) {
      const float d = (float)position_difference(b.centre[c], a.centre[c]) * scale;
      const float low = fminf(-a.half[c], d - b.half[c]), high = fmaxf(a.half[c], d + b.half[c]);
      const int64_t shift = __float2ll_rn(0.5f * (low + high) / scale);
      const float actual = (float)shift * scale;
      parent.centre[c] = a.centre[c] + (uint32_t)shift;
      parent.half[c] = fmaxf(high - actual, actual - low) * ROUND_UP;
      half2 += parent.half[c] * parent.half[c];
      da2 += actual * actual;
      db2 += (d - actual) * (d - actual);
    }
    parent.radius = fminf(sqrtf(half2),
                          fmaxf(sqrtf(da2) + a.radius, sqrtf(db2) + b.radius) * ROUND_UP);
    parent.acc_min = fminf(a.acc_min, b.acc_min);
    nodes[i] = parent;
  }
};

static __global__ void leaf_masses(uint32_t count, unsigned depth, const float *__restrict__ mass,
                                   float *node_mass) {
  const uint32_t leaves = 1u << depth, leaf = blockIdx.x * blockDim.x + threadIdx.x;
  if (leaf == 0) node_mass[0] = 0.0f; /* unused */
  if (leaf >= leaves) return;
  double sum = 0.0;
  const uint32_t end = level_first(count, depth, leaf + 1);
  for (uint32_t i = level_first(count, depth, leaf); i < end; i++) sum += (double)mass[i];
  node_mass[leaves + leaf] = (float)sum;
}

struct add_children {
  float *node_mass;

  __device__ void operator()(uint32_t i) const {
    node_mass[i] = node_mass[2 * i] + node_mass[2 * i + 1];
  }
};

void gpu_node_masses(struct gpu *g, uint32_t count, unsigned depth, const float *mass,
                     float *node_mass) {
  enum { BLOCK = 128 };
  leaf_masses<<<blocks_for((uint64_t)1 << depth, BLOCK), BLOCK, 0, g->stream>>>(count, depth, mass,
                                                                                node_mass);
  gpu_launched("node masses");
  if (depth > 0) upward(g, depth - 1, add_children{node_mass});
}

void gpu_refit(struct gpu *g, uint32_t count, unsigned depth, const uint32_t *first, float scale,
               float acc_unit, bool least, const uint32_t *x, const float *acceleration,
               struct node *nodes, unsigned top_depth, struct node *top) {
  enum { BLOCK = 128 };
  refit_leaves<<<blocks_for((uint64_t)WARP << depth, BLOCK), BLOCK, 0, g->stream>>>(
      count, depth, first, scale, acc_unit, least, x, acceleration, nodes);
  gpu_launched("refit");
  if (depth > 0) upward(g, depth - 1, refit_parent{count, depth, first, scale, nodes});
  if (top)
    CHECK_CUDA(cudaMemcpyAsync(top + 1, nodes + 1, (tree_nodes(top_depth) - 1) * sizeof *top,
                               cudaMemcpyDeviceToHost, g->stream));
}
