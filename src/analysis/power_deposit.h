/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a particle is deposited on the meshes of a power spectrum, for cores and GPUs. Deposits are whole
 * numbers, so that both fill cells with the same bits. */
#ifndef PHOTONS_POWER_DEPOSIT_H
#define PHOTONS_POWER_DEPOSIT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/host_device.h"

/** Strides of a mesh of n^3 cells, in cells. Behind the end of a row there are three cells for deposits, and behind
 * that of a plane there is a row. */
struct power_layout {
  size_t n, row, plane;
};

/** What particles of an ORB group become on the meshes. */
struct power_folding {
  unsigned fold;         /**< positions are shifted left by this many bits */
  double redshift_space; /**< of struct power_points */
  float per_unit;        /**< 1 over the unit of deposits, which is in mean masses */
};

/** z in redshift space if that is meant. @param momentum  along z, km/s */
static HOST_DEVICE inline uint32_t power_line_of_sight(uint32_t z, double redshift_space,
                                                       float momentum) {
#ifdef __CUDA_ARCH__
  return z + (uint32_t)__double2ll_rn(0x1p32 * redshift_space * (double)momentum);
#else
  return z + (uint32_t)llrint(0x1p32 * redshift_space * (double)momentum);
#endif
}

/** First of the four cells that a particle touches along one side, and the weights of these cells
 * (cubic B-spline).
 * @param shift  of the mesh, 2^-32 cells */
static HOST_DEVICE inline size_t power_spline(uint32_t u, size_t n, uint64_t shift,
                                              float weight[4]) {
  /* cells, 32 bits of fraction */
  const uint64_t whole = (uint64_t)n << 32, position = (uint64_t)u * n + whole - shift;
  const float d = (float)((uint32_t)position >> 8) * 0x1p-24f, e = 1.0f - d;
  weight[0] = e * e * e * (1.0f / 6.0f);
  weight[1] = 2.0f / 3.0f - d * d * (1.0f - 0.5f * d);
  weight[2] = 2.0f / 3.0f - e * e * (1.0f - 0.5f * e);
  weight[3] = d * d * d * (1.0f / 6.0f);
  const size_t first = (size_t)(position >> 32) - 1;
  return first >= n ? first - n : first;
}

/** The shift of the second mesh: half a cell. */
#define POWER_SHIFT (UINT64_C(1) << 31)

/** Sums over modes of equal |k|^2 (units of the fold's fundamental mode). */
struct power_shell {
  double power; /**< of |delta_k|^2; k and -k count as one mode */
  double modes;
};

/** Number of these on a mesh of n^3 cells. */
static HOST_DEVICE inline size_t power_shells_of(size_t n) { return n * n / 4 + 1; }

#endif
