/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of batches. */
#ifndef PHOTONS_CUDA_AMR_TABLES_CUH
#define PHOTONS_CUDA_AMR_TABLES_CUH

#include "cuda/amr/gpu_amr.h"
#include "cuda/runtime/gpu.cuh"

/** A table of batches in device memory. */
template <typename real>
static const real *const *upload_batches(const struct gpu_gas *g, const char *const *batch,
                                         uint32_t count) {
  void *table = gpu_scratch(g->gpu, SCRATCH_TABLE, count * sizeof *batch);
  gpu_upload(g->gpu, table, batch, count * sizeof *batch);
  return (const real *const *)table;
}

#endif
