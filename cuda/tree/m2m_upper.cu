/* SPDX-License-Identifier: GPL-3.0-or-later */
/* m2m_upper: the expansions of the lowest nodes are gathered in heap order, m2m goes up, and those that are wanted are
 * copied to their nodes. Each node has the bits that any other division of the levels into tasks gives it. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/gpu_tree.h"

enum { BLOCK = 64 };

/** Addresses of the data of nodes above groups, in heap order. */
struct upper_table {
  float *const *multipole, *const *mass; /* those of a node follow unused ones of node 0 */
};

/** A CUDA block for each of the lowest nodes. */
static __global__ void __launch_bounds__(BLOCK)
    gather_lowest(const struct upper_table t, uint32_t size, float *heap) {
  const uint32_t node = gridDim.x + blockIdx.x;
  for (uint32_t k = threadIdx.x; k < size; k += BLOCK)
    heap[node * size + k] = t.multipole[node][size + k];
}

/** A CUDA block for each node above the lowest ones. */
static __global__ void __launch_bounds__(BLOCK)
    scatter_upper(const struct upper_table t, uint32_t size, const float *heap) {
  const uint32_t node = 1 + blockIdx.x;
  if (!t.multipole[node]) return;
  for (uint32_t k = threadIdx.x; k < size; k += BLOCK)
    t.multipole[node][size + k] = heap[node * size + k];
}

/** The sums of the masses of all nodes above the lowest ones, by one CUDA block. */
static __global__ void __launch_bounds__(BLOCK)
    sum_masses(const struct upper_table t, uint32_t lowest, float *heap) {
  for (uint32_t k = lowest + threadIdx.x; k < 2 * lowest; k += BLOCK) heap[k] = t.mass[k][1];
  for (uint32_t width = lowest / 2; width > 0; width /= 2) {
    __syncthreads();
    for (uint32_t k = width + threadIdx.x; k < 2 * width; k += BLOCK) {
      heap[k] = heap[2 * k] + heap[2 * k + 1];
      if (t.mass[k]) t.mass[k][1] = heap[k];
    }
  }
}

void gpu_m2m_upper(struct gpu *g, int order, unsigned levels, float scale, const struct node *box,
                   float *const *multipole, float *const *mass) {
  const uint32_t lowest = 1u << levels, all = 2 * lowest,
                 size = (uint32_t)fmm_multipole_size(order);
  struct node *boxes = (struct node *)gpu_scratch(
      g, SCRATCH_TABLE, all * (sizeof *box + sizeof *multipole + sizeof *mass));
  float **multipoles = (float **)(boxes + all), **masses = multipoles + all,
        *heap = (float *)gpu_scratch(g, SCRATCH_LIST, (size_t)all * size * sizeof *heap);
  const struct upper_table t = {multipoles, masses};
  gpu_upload(g, boxes, box, all * sizeof *box);
  gpu_upload_pair(g, multipoles, multipole, all * sizeof *multipole, mass,
                  mass ? all * sizeof *mass : 0);
  gather_lowest<<<lowest, BLOCK, 0, g->stream>>>(t, size, heap);
  gpu_launched("gather_lowest");
  gpu_m2m(g, order, levels, scale, boxes, heap);
  scatter_upper<<<lowest - 1, BLOCK, 0, g->stream>>>(t, size, heap);
  gpu_launched("scatter_upper");
  if (!mass) return;
  sum_masses<<<1, BLOCK, 0, g->stream>>>(t, lowest, heap);
  gpu_launched("sum_masses");
}
