/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU kernels of time integration, one table for each instruction set. */
#ifndef PHOTONS_STEP_KERNELS_H
#define PHOTONS_STEP_KERNELS_H

#include <stdint.h>

#include "photons/domain/kick_largest.h"
#include "photons/runtime/isa.h"
#include "photons/step/cone_cross.h"
#include "photons/step/external_field.h"
#include "photons/step/kick.h"
#include "photons/step/momentum_sum.h"
#include "photons/step/rungs.h"

/** Kernels for the particles of one group. Component c of an array stands at array + c * count. */
struct step_kernels {
  /** Kick all particles; returns the largest |acceleration| and |momentum|. */
  struct kick_largest (*kick)(uint32_t count, struct kick kick, const float *acceleration,
                              float *momentum);
  /** Kick active particles by rungs.
   * @param[out] rungs  [RUNGS] numbers of active particles by their new rungs
   * @return the largest numbers among the active particles, as kick() */
  struct kick_largest (*kick_rungs)(const struct rung_kick *k, const struct rung_arrays *a,
                                    uint32_t *rungs);
  /** x += factor * momentum of the particles first .. end - 1; factor in position units (2^32 = L) per unit of momentum (km/s). The
   * result of a displacement of half the box or more is undefined: step.c ends the run then. */
  void (*drift)(uint32_t count, uint32_t first, uint32_t end, float factor, const float *momentum,
                uint32_t *x);
  /** The crossings of a light cone, in the order of the particles: see cone_cross(). Whether the view includes them
   * is not asked. */
  void (*cone_cross)(const struct cone_drift *d, const struct cone_particles *p,
                     const double centre[3], cone_found *found, void *context);
  /** Accelerations in potentials. @param values  of their table; NULL: there is none */
  void (*external)(const struct external_field *field, const double *values,
                   const struct external_arrays *arrays);
  /** Sums in double precision. @param mass  [count], or NULL: all are 1 */
  struct momentum_sum (*momentum_sum)(uint32_t count, const float *momentum, const float *mass);
};

/** The kernels for isa_select(). */
const struct step_kernels *step_kernels_select(void);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(step_kernels, kick, kick);
KERNEL_FUNCTION(step_kernels, kick_rungs, kick_rungs);
KERNEL_FUNCTION(step_kernels, drift, drift);
KERNEL_FUNCTION(step_kernels, cone_cross, cone_cross);
KERNEL_FUNCTION(step_kernels, external, external);
KERNEL_FUNCTION(step_kernels, momentum_sum, momentum_sum);
#endif

#endif
