/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles that may have left their groups: codelets/pm/gas_leave.c. One block of threads a group. */
#include "cuda/amr/real.cuh"
#include "cuda/pm/gpu_pm.h"

enum { LEAVE_THREADS = 256 };

static __global__ void __launch_bounds__(LEAVE_THREADS)
    leave(double cell, double time, const struct gas_fence *fences, const uint32_t *first,
          const struct gas_particle *particle, struct gas_leaver *leaver, uint32_t *leavers) {
  __shared__ uint32_t count;
  const struct gas_fence &fence = fences[blockIdx.x];
  const uint32_t begin = first[blockIdx.x], end = first[blockIdx.x + 1];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (uint32_t i = begin + threadIdx.x; i < end; i += LEAVE_THREADS) {
    if (!may_leave_till(&fence, cell, time, &particle[i])) continue;
    struct gas_leaver *l = leaver + begin + atomicAdd(&count, 1u);
    l->particle = particle[i];
    l->index = i;
  }
  __syncthreads();
  if (threadIdx.x == 0) leavers[blockIdx.x] = count;
}

void gpu_gas_leave(struct gpu *gpu, uint32_t groups, double cell, double time,
                   const struct gas_fence *fence, const uint32_t *first,
                   const struct gas_particle *particle, struct gas_leaver *leaver,
                   uint32_t *leavers) {
  const size_t fences = groups * sizeof *fence;
  char *table = (char *)gpu_scratch(gpu, SCRATCH_TABLE, fences + (groups + 1) * sizeof *first);
  gpu_upload_pair(gpu, table, fence, fences, first, (groups + 1) * sizeof *first);
  leave<<<groups, LEAVE_THREADS, 0, gpu->stream>>>(cell, time, (const struct gas_fence *)table,
                                                   (const uint32_t *)(table + fences), particle,
                                                   leaver, leavers);
  gpu_launched("leave");
}
