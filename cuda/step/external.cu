/* SPDX-License-Identifier: GPL-3.0-or-later */
/* external: one thread for each target. */
#include "cuda/runtime/gpu.cuh"
#include "cuda/step/gpu_step.h"

enum { BLOCK = 128 };

static __global__ void external(struct external_field field, const double *__restrict__ values,
                                struct external_arrays arrays) {
  const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < arrays.count) external_pull_particle(&field, values, &arrays, i);
}

void gpu_external(struct gpu *g, const struct external_field *field, const double *values,
                  const struct external_arrays *arrays) {
  external<<<blocks_for(arrays->count, BLOCK), BLOCK, 0, g->stream>>>(*field, values, *arrays);
  gpu_launched("external");
}
