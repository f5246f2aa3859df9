/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of pictures on a GPU; see photons/runtime/gpu.h. */
#ifndef PHOTONS_CUDA_ANALYSIS_H
#define PHOTONS_CUDA_ANALYSIS_H

#include "photons/runtime/gpu.h"
#include "src/analysis/sheet_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds the same numbers as sheet_deposit() does without fused multiplications and additions, which
 * a compiler may use where it is told to (-march): then both agree to the rounding of jumps. */
void gpu_sheet_deposit(struct gpu *gpu, const struct sheet_part *part);

#ifdef __cplusplus
}
#endif

#endif
