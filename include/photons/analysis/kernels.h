/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that find candidates for friends-of-friends links. struct fof_kernels is a table of them;
 * each instruction set has one. */
#ifndef PHOTONS_ANALYSIS_KERNELS_H
#define PHOTONS_ANALYSIS_KERNELS_H

#include <stdint.h>

#include "photons/runtime/isa.h"

/** The array `index` has room for n numbers. Both functions return the number of candidates. */
struct fof_kernels {
  /** Particles at a squared distance <= limit2 (position units, float rounding). */
  uint32_t (*near_point)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                         const uint32_t point[3], float limit2, uint32_t *index);
  /** Particles in the periodic box [low, low + extent]. */
  uint32_t (*near_box)(uint32_t n, const uint32_t *x, const uint32_t *y, const uint32_t *z,
                       const uint32_t low[3], const uint32_t extent[3], uint32_t *index);
};

/** The table for the instruction set of isa_select(). */
const struct fof_kernels *fof_kernels_select(void);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(fof_kernels, near_point, fof_near_point);
KERNEL_FUNCTION(fof_kernels, near_box, fof_near_box);
#endif

#endif
