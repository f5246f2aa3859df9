/* SPDX-License-Identifier: GPL-3.0-or-later */
/* net_force_remove: one thread for each particle. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

enum { BLOCK = 256 };

static __global__ void remove_from_all(const __grid_constant__ struct net_force_arrays p,
                                       const __grid_constant__ struct net_force_change change) {
  const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i < p.count) net_force_remove_from(&p, i, &change);
}

void gpu_net_force_remove(struct gpu *g, const struct net_force_arrays *arrays,
                          const struct net_force_change *change) {
  remove_from_all<<<blocks_for(arrays->count, BLOCK), BLOCK, 0, g->stream>>>(*arrays, *change);
  gpu_launched("net_force_remove");
}
