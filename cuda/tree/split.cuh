/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a split in device memory. */
#ifndef PHOTONS_CUDA_SPLIT_CUH
#define PHOTONS_CUDA_SPLIT_CUH

#include "cuda/runtime/gpu.cuh"
#include "cuda/tree/gpu_tree.h"

struct gpu_split {
  float *table;  /* of the paper's kernel: [order][entry] */
  double *exact; /* coefficients of h(t), t = 2u - 1 */
  int exact_degree;
};

#endif
