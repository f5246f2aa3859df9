/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holes_find: a thread looks at the type of one particle. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

enum { BLOCK = 256 };

static __global__ void holes_find(const __grid_constant__ struct hole_arrays a,
                                  struct holes *found) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= a.count || a.type[i] != a.wanted) return;
  const uint32_t k = atomicAdd(&found->count, 1);
  if (k < HOLES_MOST) found->hole[k] = hole_of(&a, i);
}

void gpu_holes_find(struct gpu *g, const struct hole_arrays *arrays, struct holes *found) {
  CHECK_CUDA(cudaMemsetAsync(found, 0, sizeof *found, g->stream));
  holes_find<<<blocks_for(arrays->count, BLOCK), BLOCK, 0, g->stream>>>(*arrays, found);
  gpu_launched("holes_find");
}
