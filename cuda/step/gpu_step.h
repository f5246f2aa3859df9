/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time integration on a GPU; see photons/runtime/gpu.h. */
#ifndef PHOTONS_CUDA_STEP_H
#define PHOTONS_CUDA_STEP_H

#include <stdint.h>

#include "photons/runtime/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @param acc_max  largest |acceleration|, in pinned host memory */
void gpu_kick(struct gpu *g, uint32_t count, float factor, const float *acceleration, float *momentum,
              float *acc_max);
void gpu_drift(struct gpu *g, uint32_t count, float factor, const float *momentum, uint32_t *x);

#ifdef __cplusplus
}
#endif

#endif
