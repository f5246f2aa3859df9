/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time integration on a GPU; see photons/runtime/gpu.h. */
#ifndef PHOTONS_CUDA_STEP_H
#define PHOTONS_CUDA_STEP_H

#include <stdint.h>

#include "photons/domain/kick_largest.h"
#include "photons/runtime/gpu.h"
#include "photons/step/external_field.h"
#include "photons/step/kick.h"
#include "photons/step/moments.h"
#include "photons/step/momentum_sum.h"
#include "photons/step/net_force.h"
#include "photons/step/rungs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @param largest  in pinned host memory */
void gpu_kick(struct gpu *g, uint32_t count, struct kick kick, const float *acceleration,
              float *momentum, struct kick_largest *largest);
/** @param rungs  in pinned host memory, [RUNGS]; written from kick.top on
 * @param largest  in pinned host memory */
void gpu_kick_rungs(struct gpu *g, const struct rung_kick *kick, const struct rung_arrays *arrays,
                    uint32_t *rungs, struct kick_largest *largest);
void gpu_drift(struct gpu *g, uint32_t count, float factor, const float *momentum, uint32_t *x);
/** @param values  of the table of the potentials, in device memory; NULL: there is none */
void gpu_external(struct gpu *g, const struct external_field *field, const double *values,
                  const struct external_arrays *arrays);
/** @param found  in device memory */
void gpu_holes_find(struct gpu *g, const struct hole_arrays *arrays, struct holes *found);
/** @param mass  NULL: all are 1
 * @param sum  in pinned host memory */
void gpu_momentum_sum(struct gpu *g, uint32_t count, const float *momentum, const float *mass,
                      struct momentum_sum *sum);
/** @param sum  [PARTICLE_TYPES] in pinned host memory */
void gpu_moments(struct gpu *g, const struct moment_arrays *arrays, struct moments *sum);
/** @param sums  in pinned host memory */
void gpu_net_force(struct gpu *g, const struct net_force_arrays *arrays,
                   struct net_force_sums *sums);
void gpu_net_force_remove(struct gpu *g, const struct net_force_arrays *arrays,
                          const struct net_force_change *change);

#ifdef __cplusplus
}
#endif

#endif
